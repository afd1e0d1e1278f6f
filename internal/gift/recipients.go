package gift

import (
	"fmt"
	"slices"
	"strings"
)

// Recipient is one receiver of a gift (interface, section 2.2).
type Recipient struct {
	Method  *int
	Name    string
	Contact string
	Message string
}

// recipients judges both forms and gives the receivers with their delivery methods.
func (i *order) recipients() []Recipient {
	single := i.def.Recipient
	if i.Recipients == nil {
		if !i.absent && !i.Has("recipients") {
			i.recipient(i.path, single, nil)
		}
		return []Recipient{single}
	}
	const beside = "Leave this out when recipients is used; give it for each recipient."
	i.require(i.at("recipientDescription"), single.Name == "", beside)
	i.require(i.at("recipientContact"), single.Contact == "", beside)
	i.require(i.at("message"), single.Message == "", beside)
	i.require(i.at("deliveryMethodID"), single.Method == nil || isMethod(*single.Method), notAMethod)
	if n := len(i.Recipients); n == 0 || n > MaxRecipients {
		i.Add("recipients", "There must be 1 to %d recipients, not %d.", MaxRecipients, n)
		return nil
	}
	all := slices.Clone(i.Recipients)
	for n := range all {
		path := fmt.Sprintf("recipients[%d]", n)
		if !i.Has(path) {
			i.recipient(path, all[n], single.Method)
		}
		if all[n].Method == nil {
			all[n].Method = single.Method
		}
	}
	i.contacts(all)
	return all
}

// MaxPerContact is how many gifts of one order one address or number can get.
const MaxPerContact = 10

// contacts holds each address and number to its share of the order.
func (i *order) contacts(all []Recipient) {
	seen := make(map[string]int, len(all))
	for n, r := range all {
		if r.Contact == "" || r.Method == nil || !isMethod(*r.Method) {
			continue
		}
		contact, err := ParseContact(Method(*r.Method), r.Contact, i.account.TextCountries)
		if err != nil {
			continue // told already
		}
		contact = strings.ToLower(contact)
		if seen[contact]++; seen[contact] > MaxPerContact {
			i.Add(fmt.Sprintf("recipients[%d].recipientContact", n), "One recipient can get at most %d gifts of an order.",
				MaxPerContact)
		}
	}
}

const notAMethod = "The deliveryMethodID must be 1 (e-mail), 2 (SMS) or 3 (printed)."

func isMethod(id int) bool { return id >= int(Email) && id <= int(Printed) }

// recipient judges one receiver; inherited is the delivery method of the gift, judged elsewhere.
func (i *order) recipient(path string, r Recipient, inherited *int) {
	method := r.Method
	if method == nil {
		method = inherited
	}
	contact := path + ".recipientContact"
	i.text(path+".recipientDescription", r.Name, maxName)
	i.text(path+".message", r.Message, maxMessage)
	switch {
	case method == nil:
		i.require(path+".deliveryMethodID", i.absent || i.Has(i.at("deliveryMethodID")),
			"A deliveryMethodID is needed: 1 e-mail, 2 SMS, 3 printed.")
	case !isMethod(*method):
		i.require(path+".deliveryMethodID", r.Method == nil, notAMethod)
	case Method(*method) == Printed:
		i.require(contact, r.Contact == "", takesNoContact)
	case r.Contact == "":
		i.Add(contact, "A gift sent by %s needs a recipientContact.", Method(*method))
	default:
		if _, err := ParseContact(Method(*method), r.Contact, i.account.TextCountries); err != nil {
			i.Add(contact, "%s", err)
		}
	}
}
