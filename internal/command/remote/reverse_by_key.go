package remote

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// byKey counts what a key has taken, and gives it back when it is told to.
func (c *giftReverseCmd) byKey(t *terminal.Terminal) error {
	switch {
	case c.Since.IsZero():
		return terminal.UsageError("Say from when on: --since TIME.")
	case c.Amount != "" || c.IdempotencyKey != "" || c.JSON:
		return terminal.UsageError("--amount, --idempotency-key and --json do not go with --by-key: each redemption is " +
			"given back " +
			"whole, under a key of its own.")
	case c.Until.IsZero():
		c.Until = time.Now()
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	all, err := c.taken(t, api)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("there is no redemption with the key %s from %s to %s; boon key list --all shows all keys", c.ByKey,
			terminal.Moment(c.Since), terminal.Moment(c.Until))
	}
	printTaken(t, all)
	if !c.Yes {
		fmt.Fprintln(t.Stdout, "Nothing was changed. With --yes, what is left of them is given back.")
		return nil
	}
	return c.giveBack(t, api, all)
}

// pageSize is how many changes one call fetches.
const pageSize = 200

// taking is a redemption with what has been given back of it.
type taking struct {
	client.Change
	back *big.Rat
}

func (x *taking) left() *big.Rat { return new(big.Rat).Sub(new(big.Rat).Neg(x.Amount.Rat()), x.back) }

// taken finds the redemptions that a key has made, the oldest first. It refuses a name that several keys have had in
// that time: one of them may be the honest successor of the other.
func (c *giftReverseCmd) taken(t *terminal.Terminal, api *client.Client) ([]*taking, error) {
	var all []*taking
	keys := map[string]int{}
	made := client.ActivityFilter{Kind: client.EntryRedemption, From: c.Since, To: c.Until, PageSize: pageSize}
	if guidForm.MatchString(c.ByKey) {
		made.KeyID = c.ByKey
	}
	for e, err := range api.Activity(t, made) {
		if err != nil {
			return nil, fmt.Errorf("looking for redemptions: %w", err)
		}
		if made.KeyID != "" || e.KeyName == c.ByKey {
			all = append(all, &taking{Change: e})
			keys[e.KeyID]++
			t.Status("%d redemptions found", len(all))
		}
	}
	t.Status("")
	if len(keys) > 1 {
		var each []string
		for _, id := range slices.Sorted(maps.Keys(keys)) {
			each = append(each, fmt.Sprintf("%s (%d redemptions)", id, keys[id]))
		}
		return nil, terminal.UsageError(fmt.Sprintf("Several keys have that name: give --by-key the id of the one that you "+
			"mean, "+
			"%s. boon key list --all tells them apart.",
			strings.Join(each, " or ")))
	}
	slices.Reverse(all)
	return all, c.givenBack(t, api, all)
}

// givenBack finds what has been given back of redemptions, by whomever.
func (c *giftReverseCmd) givenBack(t *terminal.Terminal, api *client.Client, all []*taking) error {
	byID := make(map[string]*taking, len(all))
	for _, x := range all {
		x.back, byID[x.RedemptionID] = new(big.Rat), x
	}
	if len(all) == 0 {
		return nil
	}
	for e, err := range api.Activity(t, client.ActivityFilter{Kind: client.EntryReversal, From: c.Since,
		PageSize: pageSize}) {
		if err != nil {
			return fmt.Errorf("looking for reversals: %w", err)
		}
		if x := byID[e.RedemptionID]; x != nil {
			x.back.Add(x.back, e.Amount.Rat())
		}
	}
	return nil
}

// printTaken tells how much was taken where.
func printTaken(t *terminal.Terminal, all []*taking) {
	type at struct{ place, currency string }
	type sum struct {
		n           int
		taken, left *big.Rat
		like        client.Decimal
	}
	sums := map[at]*sum{}
	for _, x := range all {
		place := at{placeName(x), x.Currency}
		s := sums[place]
		if s == nil {
			s = &sum{taken: new(big.Rat), left: new(big.Rat), like: x.Amount}
			sums[place] = s
		}
		s.n++
		s.taken.Sub(s.taken, x.Amount.Rat())
		s.left.Add(s.left, x.left())
	}
	var rows [][]string
	for _, place := range slices.SortedFunc(maps.Keys(sums), func(a, b at) int {
		return strings.Compare(a.place+a.currency,
			b.place+b.currency)
	}) {
		s := sums[place]
		rows = append(rows, []string{place.place, fmt.Sprint(s.n), total(s.taken, s.like, place.currency),
			total(s.left, s.like, place.currency)})
	}
	terminal.Facts(t.Stdout, "key", all[0].KeyName+" "+all[0].KeyID, "redemptions", fmt.Sprint(len(all)), "first",
		terminal.Moment(all[0].At), "last", terminal.Moment(all[len(all)-1].At))
	terminal.Table(t.Stdout, []string{"LOCATION", "REDEMPTIONS", "TAKEN", "TO BE GIVEN BACK"}, rows)
}

// total writes a sum with the decimals that its currency's amounts are written with.
func total(sum *big.Rat, like client.Decimal, currency string) string {
	_, decimals, _ := strings.Cut(like.String(), ".")
	return Money(client.MustDecimal(sum.FloatString(len(decimals))), currency)
}

func placeName(x *taking) string {
	if x.OrganizationName != "" {
		return x.OrganizationName
	}
	return x.OrganizationID
}

// giveBack reverses what is left of each redemption, under a key that follows from it, so that a repeat does nothing
// new.
func (c *giftReverseCmd) giveBack(t *terminal.Terminal, api *client.Client, all []*taking) error {
	sums, like, done, before := map[string]*big.Rat{}, map[string]client.Decimal{}, 0, 0
	var failed [][]string
	for n, x := range all {
		t.Status("%d of %d", n+1, len(all))
		if x.left().Sign() == 0 {
			before++
			continue
		}
		a, err := api.ReverseRedemption(t, client.ReverseRedemptionRequest{
			RedemptionID: x.RedemptionID, All: true, Reason: c.Reason, OrganizationID: c.Location,
			PointOfSaleSystemOrganizationIdentifier: c.PointOfSale,
			IdempotencyKey:                          "reverse-by-key-" + x.RedemptionID,
		})
		switch {
		case err == nil && a.Meta.Replayed, errors.Is(err, client.AlreadyReversed):
			before++
		case err == nil:
			if done++; sums[a.Currency] == nil {
				sums[a.Currency], like[a.Currency] = new(big.Rat), a.Amount
			}
			sums[a.Currency].Add(sums[a.Currency], a.Amount.Rat())
		case !client.Refused(err), errors.Is(err, client.RateLimited), errors.Is(err, client.NotAuthorized),
			errors.Is(err, client.Unauthenticated):
			t.Status("")
			return fmt.Errorf("after %d of %d redemptions (the same command goes on where it was): %w", n, len(all), err)
		default:
			refusal, _ := errors.AsType[*client.Error](err)
			failed = append(failed, []string{x.RedemptionID, x.VoucherID, placeName(x), total(x.left(), x.Amount, x.Currency),
				refusal.Error()})
		}
	}
	t.Status("")
	var given []string
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		given = append(given, total(sums[currency], like[currency], currency))
	}
	terminal.Facts(t.Stdout, "given back", strings.TrimPrefix(fmt.Sprintf("%d redemptions, %s", done,
		strings.Join(given, ", ")),
		"0 redemptions, "),
		"before", fmt.Sprintf("%d were given back already", before))
	if failed == nil {
		return nil
	}
	fmt.Fprintf(t.Stdout, "%d could not be given back:\n", len(failed))
	terminal.Table(t.Stdout, []string{"REDEMPTION", "GIFT", "LOCATION", "AMOUNT", "WHY"}, failed)
	return terminal.ErrQuiet // it was told
}
