package api

import (
	"fmt"

	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
)

// mask takes the secrets of gifts out of a kept answer, which may have been made for another key, unless the caller may
// see codes; and out of that of a dry run, as there is no gift that they lead to.
func (c *call) mask(op operation.Name, a ledger.Answer) (_ ledger.Answer, err error) {
	if c.Caller == nil || !a.Succeeded() || c.Caller.May(merchant.MaySeeCodes) && !c.DryRun {
		return a, nil
	}
	tells, err := payload.TellsCodes(op, a.Body)
	if err == nil && (!tells || c.DryRun) {
		a.Body, err = payload.WithoutSecrets(a.Body)
	}
	if err != nil {
		return ledger.Answer{}, fmt.Errorf("masking the answer of %s: %w", op, err)
	}
	return a, nil
}
