package gifts

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// change is what an action is going to change about a gift, as the engine says.
type change struct{ Name, Now, Then string }

// stands is where a gift stands, as operations answer it. What one of them does not tell is nil.
type stands struct {
	VoucherID      string
	CurrentBalance *json.Number
	StatusID       gift.Status
	ValidUntil     *time.Time
	BlockedReason  *string
	Outcome        string
	Reason         *string
}

// rehearsed is the answer to a dry run. Those that may be about many gifts have a list, and a transfer says where the
// gift stands that gives.
type rehearsed struct {
	stands

	Vouchers []stands
	From     *stands
}

// rehearse asks the engine what an action would do, and does nothing.
func (a *action) rehearse(r *desk.Request, g *gift.Gift, typed func(string) string) ([]change, error) {
	body, err := a.body(r, g, typed)
	if err != nil {
		return nil, err
	}
	var answer rehearsed
	if err := r.Operate(http.MethodPost, a.path+string(a.operation)+"?dryRun=true", "", body, &answer); err != nil {
		return nil, err
	}
	is := answer.stands
	switch {
	case len(answer.Vouchers) > 0:
		is = answer.Vouchers[0]
	case answer.From != nil:
		is = *answer.From
	}
	if is.Outcome == "NOT_ALLOWED" && is.Reason != nil {
		return nil, refusal.New(refusal.RedemptionNotAllowed, "%s", *is.Reason)
	}
	return a.changes(r, g, &is)
}

// changes compares a gift as it is with where it would stand.
func (a *action) changes(r *desk.Request, g *gift.Gift, is *stands) (all []change, _ error) {
	after := *g
	if is.StatusID != 0 {
		after.Status = is.StatusID
	}
	if is.CurrentBalance != nil {
		balance, err := g.Unit().ParseSigned(money.Number(*is.CurrentBalance))
		if err != nil {
			return nil, err
		}
		after.Balance = balance
	}
	add := func(name, now, then string) {
		if now != then {
			all = append(all, change{r.Locale.Text("console.then." + name), now, then})
		}
	}
	add("left", left(r, g), left(r, &after))
	if is.ValidUntil != nil {
		add("until", r.Locale.Moment(g.End().In(r.Account.Zone)), r.Locale.Moment(is.ValidUntil.In(r.Account.Zone)))
		after.ValidUntil, after.Extended = *is.ValidUntil, *is.ValidUntil
	}
	if a.operation == operation.BlockGift || a.operation == operation.UnblockGift {
		after.Blocked = ""
		if is.BlockedReason != nil {
			after.Blocked = gift.ReasonCode(*is.BlockedReason)
		}
	}
	add("state", stateOf(r, g).Text, stateOf(r, &after).Text)
	return all, nil
}

// rehearse fills in what the engine says: about what was typed, or else, where nothing is missing, about the form as it
// is. What the engine refuses then is told before somebody types in vain; what the form lacks is not.
func (s *actionShown) rehearse(r *desk.Request, a *action, g *gift.Gift, typed func(string) string) error {
	asIs := typed == nil
	if asIs {
		values := map[string]string{}
		for _, f := range s.Fields {
			values[f.Name] = f.Value
			if f.Kind == "choice" && f.Value == "" && len(f.Options) > 0 {
				values[f.Name] = f.Options[0].Value
			}
			if values[f.Name] == "" && !f.Optional {
				return nil
			}
		}
		typed = func(name string) string { return values[name] }
	}
	changes, err := a.rehearse(r, g, typed)
	refused, is := errors.AsType[*refusal.Error](err)
	if !is {
		s.Changes, s.Rehearsed = changes, err == nil
		return err
	}
	if !asIs || refused.Code != refusal.ValidationFailure {
		s.Wrong = r.Said(service.Told(refused))
		s.askProof(r, g, err)
	}
	return nil
}
