package service

import (
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// RealTime is the machine's time, also in test accounts.
func (c *Call) RealTime() time.Time { return c.Service.Now().UTC() }

// MachineTime is RealTime as the store keeps it. Endpoints are called, keys are made and messages are signed by it.
func (c *Call) MachineTime() time.Time { return c.RealTime().Truncate(time.Microsecond) }

// testing reports whether the call is a test account's.
func (c *Call) testing() bool { return c.Caller.Test || c.Account != nil && c.Account.Test }

// readClocks reads the clocks of the test accounts that the caller may act for. Live accounts have none, and cost
// nothing.
func (c *Call) readClocks() error {
	if !c.testing() {
		return nil
	}
	accounts := c.Caller.Accounts
	if c.Account != nil {
		accounts = []guid.ID{c.Account.ID}
	}
	c.clocks = make(map[guid.ID]merchant.Clock, len(accounts))
	for _, id := range accounts {
		clock, err := c.config.Records.Clock(c.ctx, id)
		if err != nil {
			return Stored(err)
		}
		c.clocks[id] = clock
	}
	return nil
}

// ActFor makes the call one about an account, by whose clock it goes from now on.
func (c *Call) ActFor(a *merchant.Account) {
	if c.Account = a; a != nil && a.Test {
		c.Now = c.clocks[a.ID].Now(c.Service.Now()).UTC()
	}
}

// PresentTime is the time by the clock of the account that the call is about; Now is when the call began.
func (c *Call) PresentTime() time.Time {
	if c.Account != nil && c.Account.Test {
		return c.Clock().Now(c.Service.Now()).UTC()
	}
	return c.RealTime()
}

// Clock is that of the account that the call is about; zero: the account is live.
func (c *Call) Clock() merchant.Clock { return c.clocks[c.Account.ID] }

// AccountNow is the time by the clock of an account.
func (c *Call) AccountNow(a *merchant.Account) (time.Time, error) {
	if !a.Test {
		return c.Now, nil
	}
	clock, err := c.config.Records.Clock(c.ctx, a.ID)
	return clock.Now(c.Now), Stored(err)
}
