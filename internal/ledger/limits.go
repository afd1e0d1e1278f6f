package ledger

import (
	"cmp"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// owner is who has limits that a call counts against.
type owner struct {
	id   guid.ID
	name phrase.Text
	merchant.Limits
}

func (c *Call) owners() (all []owner) {
	if c.Account == nil {
		return nil
	}
	all = append(all, owner{c.Account.ID, "account", c.Account.Limits})
	if c.Caller != nil && c.Caller.Limits != (merchant.Limits{}) {
		all = append(all, owner{c.Caller.KeyID, "key", c.Caller.Limits})
	}
	return all
}

func (c *Call) budget(o owner, s *state) (b merchant.Budget, today int) {
	b = merchant.Budget{Limits: o.Limits, Owner: o.name, Currency: c.Account.Currency, Zone: c.Account.Zone, Now: s.now}
	today, b.Left = merchant.Day(s.now, c.Account.Zone)
	return b, today
}

func (c *Call) counted(kind merchant.CountKind, owner guid.ID, to string) merchant.CountKey {
	return merchant.CountKey{AccountID: c.AccountID, Kind: kind, Owner: owner, Contact: to}
}

// wantSent wants what is needed to send gifts to contacts.
func (c *Call) wantSent(w *Want, contacts ...string) {
	for _, o := range c.owners() {
		w.Counts = append(w.Counts, c.counted(merchant.SentCount, o.id, ""))
		if o.MessagesPerContactPerDay == 0 {
			continue
		}
		for _, to := range contacts {
			w.Counts = append(w.Counts, c.counted(merchant.ContactCount, o.id, contact.Key(to)))
		}
	}
}

// wantRedeemed wants what is needed to redeem. Nearly always nothing: without a limit nothing is counted.
func (c *Call) wantRedeemed(w *Want) {
	for _, o := range c.owners() {
		if o.RedeemedPerDay > 0 {
			w.Counts = append(w.Counts, c.counted(merchant.RedeemedCount, o.id, ""))
		}
	}
}

// wantKept wants the count of what the key keeps.
func (c *Call) wantKept(w *Want) {
	if c.Account != nil && c.Caller != nil {
		w.Counts = append(w.Counts, c.keptKey())
	}
}

// limitsMoney reports whether the account, or a key of it, limits money by the day.
func (c *Call) limitsMoney() bool {
	return c.Account != nil && (c.Account.LimitsMoney() || c.Caller != nil && c.Caller.Limits.OfMoney())
}

// pieces is what the pieces of a command's gift are worth, if it is an item gift.
type pieces struct{ worth gift.ItemWorth }

func (p *pieces) weighOne(voucher guid.ID, worth func(guid.ID) (gift.ItemWorth, error)) (err error) {
	p.worth, err = worth(voucher)
	return err
}

// spend is a count to be added to.
type spend struct {
	key  merchant.CountKey
	more merchant.Count
	most merchant.Count // that it may come to; zero: as much as one likes
}

// add notes counts of one day. They are added to that of the count, which may be the next one.
func (s *state) add(today int, all []spend) {
	for _, x := range all {
		sum := s.Counts[x.key].On(today).Plus(x.more)
		s.Counts[x.key] = sum
		if s.changes.Counts == nil {
			s.changes.Counts = map[merchant.CountKey]merchant.Count{}
		}
		s.changes.Counts[x.key] = s.changes.Counts[x.key].On(sum.Day).Plus(x.more)
		if s.heavy && x.most != (merchant.Count{}) {
			if s.changes.Most == nil {
				s.changes.Most = map[merchant.CountKey]merchant.Count{}
			}
			s.changes.Most[x.key] = x.most
		}
	}
}

// sending gives what sending adds to, and the first limit that it goes beyond. contacts has the messages to each.
func (s *state) sending(c *Call, more merchant.Count, contacts map[string]merchant.Count) (day int, all []spend,
	over error) {
	for _, o := range c.owners() {
		b, today := c.budget(o, s)
		day = today
		key := c.counted(merchant.SentCount, o.id, "")
		over = cmp.Or(over, b.Send(s.Counts[key].On(today), more))
		all = append(all, spend{key, more, o.AtMost(more)})
		if o.MessagesPerContactPerDay == 0 {
			continue
		}
		each := merchant.Limits{MessagesPerDay: o.MessagesPerContactPerDay}
		for to, messages := range contacts {
			key := c.counted(merchant.ContactCount, o.id, contact.Key(to))
			over = cmp.Or(over, b.Contact(s.Counts[key].On(today), messages))
			all = append(all, spend{key, messages, each.AtMost(messages)})
		}
	}
	return day, all, over
}

// send counts what is sent, or refuses it: all of it, or nothing is counted.
func (s *state) send(c *Call, more merchant.Count, contacts map[string]merchant.Count) error {
	day, all, over := s.sending(c, more, contacts)
	if over != nil {
		return over
	}
	s.add(day, all)
	c.left = nil
	for _, o := range c.owners() {
		if !c.mayKnow(o) {
			continue
		}
		b, today := c.budget(o, s)
		c.left = append(c.left, b.Sent(s.Counts[c.counted(merchant.SentCount, o.id, "")].On(today))...)
	}
	return nil
}

// mayKnow reports whether the caller may be told how much was done today by whoever has limits: what the whole account
// did is for nobody who sees a part of it only.
func (c *Call) mayKnow(o owner) bool {
	return c.Caller != nil && (o.id == c.Caller.KeyID ||
		c.Caller.Kind != merchant.SystemKey && len(c.Caller.Locations) == 0)
}

// of is the answer with what is left of the daily limits that its call counted against.
func (a Answer) of(c *Call) Answer {
	if a.Fresh() {
		a.Left = c.left
	}
	return a
}

// Notice asks whether one more message may go to a contact today, and changes nothing: RATE_LIMITED says no. Deliver
// counts it when it was sent.
type Notice struct {
	Account guid.ID
	Method  contact.Method
	Contact string
}

func (n *Notice) want(c *Call, w *Want) { c.wantSent(w, n.Contact) }

func (n *Notice) affinity() guid.ID { return n.Account }

func (n *Notice) decide(c *Call, s *state) (Result, error) {
	message := merchant.MessageCount(n.Method)
	_, _, over := s.sending(c, message, map[string]merchant.Count{n.Contact: message})
	return Result{}, over
}

func (*Notice) locations(*Call, *state) []guid.ID { return nil }

// redeemed counts money that is redeemed, or refuses it.
func (s *state) redeemed(c *Call, more merchant.Count) error {
	var all []spend
	var left []merchant.Quota
	day := 0
	for _, o := range c.owners() {
		if o.RedeemedPerDay == 0 {
			continue
		}
		b, today := c.budget(o, s)
		key := c.counted(merchant.RedeemedCount, o.id, "")
		used := s.Counts[key].On(today)
		if err := b.Redeem(used, more); err != nil {
			return err
		}
		if c.mayKnow(o) {
			left = append(left, b.Redeemed(used.Plus(more).Amount)...)
		}
		day, all = today, append(all, spend{key: key, more: more})
	}
	s.add(day, all)
	c.left = left
	return nil
}

// Keep counts a call that moves nothing and is kept elsewhere, such as an export, or refuses it: see state.keep.
type Keep struct{}

func (*Keep) want(c *Call, w *Want) { c.wantKept(w) }

func (*Keep) affinity() guid.ID { return guid.ID{} }

func (*Keep) decide(c *Call, s *state) (Result, error) { return Result{}, s.keep(c) }

func (*Keep) locations(*Call, *state) []guid.ID { return nil }

// mayKeep refuses a call that moves nothing and would be kept, if the key has had as many today as it may.
func (s *state) mayKeep(c *Call) error {
	_, err := s.keeping(c)
	return err
}

// keep counts a call that moved nothing and is kept, or refuses it: once for each call.
func (s *state) keep(c *Call) error {
	today, err := s.keeping(c)
	if err != nil || today == 0 {
		return err
	}
	s.add(today, []spend{{key: c.keptKey(), more: merchant.Count{Kept: 1}}})
	s.keptBy = c
	return nil
}

func (c *Call) keptKey() merchant.CountKey {
	return c.counted(merchant.KeptCount, c.Caller.KeyID, "")
}

// keeping gives the day in which a call counts; 0: it counts no more, or is nobody's.
func (s *state) keeping(c *Call) (today int, _ error) {
	if c.Account == nil || c.Caller == nil || s.keptBy == c {
		return 0, nil
	}
	b, _ := c.budget(owner{name: "key"}, s)
	today, b.Left = merchant.Day(s.real, c.Account.Zone) // no clock that can be advanced keeps a database small
	return today, b.Keep(s.Counts[c.keptKey()].On(today), c.Caller.LocationCount())
}
