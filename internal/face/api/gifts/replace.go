package gifts

import (
	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// replacing is a replace-gift request.
type replacing struct {
	VoucherID guid.ID
	Reason    string
	Deliver   *delivering
}

// delivering is where the new code of a gift is sent.
type delivering struct {
	Method  contact.Method
	Contact string
}

func readReplacing(o *wire.Object) (r replacing) {
	const reason, deliver = "reason", "deliver"
	r.VoucherID = readVoucherID(o)
	if r.Reason = o.Line(reason, maxReason); r.Reason == "" && !o.Has(reason) {
		o.Add(reason, "Say why the card is replaced.")
	}
	if d := o.Object(deliver); d != nil {
		const method = "deliveryMethodID"
		r.Deliver = &delivering{}
		if id := d.Integer(method); id != nil {
			var err error
			if r.Deliver.Method, err = contact.ParseMethod(*id); err != nil {
				d.Add(d.At(method), "The deliveryMethodID must be 1 (e-mail), 2 (SMS) or 3 (printed).")
			}
		} else if !d.Given(method) {
			d.Add(d.At(method), "Say how the gift is delivered: 1 e-mail, 2 SMS, 3 printed.")
		}
		r.Deliver.Contact = normalize.Address(d.Line("recipientContact", maxContact))
		d.Finish()
	}
	return r
}

// ReplaceGift gives a gift another code and token.
func ReplaceGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readReplacing)
	if d := asked.Deliver; d != nil && d.Method == contact.Printed && !c.Caller.Permissions.Has(merchant.MaySeeCodes) {
		problems.Refuse(refusal.At(refusal.NotAuthorized, "deliver.deliveryMethodID", "A printed card shows its code, and "+
			"this key may not see codes. Leave deliver out: then the answer has the new code. Or send it by e-mail (1) or "+
			"SMS (2)."))
	}
	request := c.RequestTo(operation.ReplaceGift, func(spell func(string) string) any {
		as := asked
		if as.Deliver != nil {
			as.Deliver = &delivering{as.Deliver.Method, spell(as.Deliver.Contact)}
		}
		return as
	})
	cmd := &ledger.Replace{VoucherID: asked.VoucherID, Replace: gift.Replace{Context: c.Actor(guid.ID{}), Caller: c.Caller,
		Reason: asked.Reason}}
	if d := asked.Deliver; d != nil {
		cmd.Deliver = &gift.Resend{Context: cmd.Context, Caller: c.Caller, Method: d.Method, Contact: d.Contact,
			Deliverable: c.deliverableBy}
	}
	return c.dispatch(request, asked.VoucherID, problems, cmd)
}
