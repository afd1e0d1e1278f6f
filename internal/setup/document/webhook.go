package document

import (
	"slices"

	"boon.example/internal/event"
	"boon.example/internal/merchant"
)

// Webhook is what the file says of one endpoint of an account. Its address is what it is known by.
type Webhook struct {
	At          Place
	URL         string
	Types       []string // sorted; empty: all
	Description string
	Enabled     *bool // nil: as it is
}

// webhooks reads where an account's events are sent; nil: the file leaves that to the interface.
func (r *reader) webhooks(f fields) []Webhook {
	members, said := f.list("webhooks")
	if !said {
		return nil
	}
	if len(members) > merchant.MaxWebhooks {
		r.problem(f.values["webhooks"], "An account has at most %d webhooks; this one has %d.", merchant.MaxWebhooks,
			len(members))
		return nil
	}
	all, lines := make([]Webhook, 0, len(members)), make(map[string]int)
	for _, v := range members {
		f := r.fields(v, "url", "types", "description", "enabled")
		f.require("url")
		w := Webhook{At: v.place(), Types: f.eventTypes("types")}
		if at, _, ok := f.scalar("url"); ok {
			w.URL = at.Value
			if err := r.allow.CheckURL(w.URL); err != nil {
				r.refuse(at, err)
			} else if line, double := lines[w.URL]; double {
				r.problem(at, "Another webhook%s has this address already; events would come twice.", r.onLine(line))
			}
			lines[w.URL] = v.Line
		}
		if at, _, ok := f.scalar("description"); ok {
			w.Description = r.line(at, merchant.MaxWebhookDescription)
		}
		if _, ok := f.get("enabled"); ok {
			on := f.truth("enabled")
			w.Enabled = &on
		}
		all = append(all, w)
	}
	return all
}

// eventTypes reads types of events.
func (f fields) eventTypes(name string) (types []string) {
	members, ok := f.list(name)
	if ok && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list means no events; name types, or leave the field out for all of them.")
	}
	for _, v := range members {
		if v.kind() != scalarKind {
			f.problem(v, "This must be a type of events, not %s.", v.kind())
			continue
		}
		_, err := event.CheckTypes([]string{v.Value})
		switch {
		case err != nil:
			f.refuse(v, err)
		case slices.Contains(types, v.Value):
			f.problem(v, "This type stands in the list already.")
		}
		types = append(types, v.Value)
	}
	slices.Sort(types)
	return types
}
