package wire

import (
	"errors"
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/refusal"
)

// Problem is something that is wrong with a request, by its path in the request; "" is the whole of it.
type Problem struct{ Path, Text string }

// Told gives what a refusal tells in English, in the names of the interface.
func Told(refused *refusal.Error) []Problem { return ToldIn(phrase.English, refused) }

// ToldIn gives what a refusal tells in the words of a language. The names of the interface are the same in each.
func ToldIn(words func(phrase.Text) string, refused *refusal.Error) []Problem {
	all := make([]Problem, len(refused.Messages))
	for n, m := range refused.Messages {
		all[n] = Problem{m.Path, m.In(words, name)}
		if m.Field != "" {
			all[n].Path = Path(m.Field)
		}
	}
	return all
}

// maxProblems is how many problems are told one by one: more than the largest request that is otherwise within the
// limits can hold. A hostile one is only told how many more there are.
const maxProblems = 5_000

// Problems collects everything that is wrong with one request: at most one problem for each path, the first that was
// found there, which is the one that explains the others; and refusals with codes of their own. The zero Problems is
// empty.
type Problems struct {
	list    []refusal.Message // each by its path
	paths   map[string]struct{}
	more    int // beyond maxProblems
	refusal *refusal.Error
}

// Add notes a problem at path, unless one is known there already.
func (p *Problems) Add(path string, text phrase.Text, values ...any) {
	p.add(refusal.MessageAt(path, text, values...))
}

func (p *Problems) add(m refusal.Message) {
	path := m.Path
	if path != "" && p.Has(path) {
		return
	}
	if len(p.list) >= maxProblems {
		p.more++
		return
	}
	if p.paths == nil {
		p.paths = make(map[string]struct{})
	}
	p.paths[path] = struct{}{}
	p.list = append(p.list, m)
}

// AddAt is Add at a path that is made only where the problem is told: that of each of a million would take long.
func (p *Problems) AddAt(path func() string, text phrase.Text, values ...any) {
	if len(p.list) >= maxProblems {
		p.more++
		return
	}
	p.Add(path(), text, slices.Clone(values)...) // of those that are not told, nothing is kept
}

// Refuse notes a refusal: the messages of a VALIDATION_FAILURE are problems like others; of other codes, the first
// one stands. nil is none, and what is no *refusal.Error is not for a caller to see and must not come here.
func (p *Problems) Refuse(err error) {
	refused, ok := errors.AsType[*refusal.Error](err)
	switch {
	case !ok:
	case refused.Code != refusal.ValidationFailure:
		p.refusal = refusal.Join(p.refusal, refused)
	default:
		for _, m := range refused.Messages {
			if m.Field != "" {
				m.Path = Path(m.Field)
			}
			m.Field = ""
			p.add(m)
		}
	}
}

// Has reports whether a problem at path is known.
func (p *Problems) Has(path string) bool {
	_, known := p.paths[path]
	return known
}

// Unread reports of a field whether it could not be read; nil: all could.
func (p *Problems) Unread() func(refusal.Field) bool {
	if p.Len() == 0 {
		return nil
	}
	return func(f refusal.Field) bool { return p.Has(Path(f)) }
}

// Len is the number of problems, refusals not counted.
func (p *Problems) Len() int { return len(p.list) + p.more }

// All gives every problem, and what else was refused.
func (p *Problems) All() []Problem {
	refused, ok := errors.AsType[*refusal.Error](p.Err())
	if !ok {
		return nil
	}
	return Told(refused)
}

// Err is what is wrong: a VALIDATION_FAILURE with all the problems and what else was refused, or where there are no
// problems the refusal; nil when nothing is wrong.
func (p *Problems) Err() error {
	if p.Len() == 0 {
		if p.refusal == nil {
			return nil
		}
		return p.refusal
	}
	all := &refusal.Error{Code: refusal.ValidationFailure}
	all.Messages = append(all.Messages, p.list...)
	if p.refusal != nil {
		for n, told := range Told(p.refusal) {
			if told.Path == "" || !p.Has(told.Path) {
				all.Messages = append(all.Messages, p.refusal.Messages[n])
			}
		}
	}
	if p.more > 0 {
		all.Messages = append(all.Messages, refusal.MessageAt("", "There are %d more problems.", p.more))
	}
	return all
}
