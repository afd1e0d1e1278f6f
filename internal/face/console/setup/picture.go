package setup

import (
	"errors"
	"strconv"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	"boon.example/internal/post/picture"
	"boon.example/internal/service"
	edits "boon.example/internal/setup"
	"boon.example/internal/setup/form"
	"boon.example/internal/setup/written"
)

// pictures reads the pictures that a form brings, and gives an edit theirs. Of one that the form brings, or that there
// is, it takes the part that the form names. It says in wrong, by the name of a field, what will not do, in a sentence:
// the picture that there is stays then.
func (p *pages) pictures(r *desk.Request, e *editing, change *edits.Edit, wrong map[string]string) error {
	for _, q := range e.questions {
		if q.Ask != form.Picture {
			continue
		}
		if r.HTTP.PostForm.Get(q.Name+".none") != "" {
			delete(change.Is, q.Name)
		}
		part, ok := partOf(func(name string) string { return r.HTTP.PostForm.Get(q.Name + "." + name) })
		if !ok {
			wrong[q.Name] = r.Locale.Text("console.setup.no-part")
			continue
		}
		brought, err := r.File(q.Name + ".file")
		if err == nil && brought == nil && part != picture.Whole {
			brought, err = p.kept(r, change.Is[q.Name])
		}
		if err != nil {
			return err
		}
		if brought == nil {
			continue
		}
		done, err := p.busy.Take(r.Context(), r.Account.ID, r.Member.ID)
		if err != nil {
			return service.Stored(err)
		}
		clean, err := picture.CleanPart(brought, part, q.Most)
		done()
		if err != nil {
			wrong[q.Name] = r.Locale.Text("console.setup.no-picture")
			if said, is := errors.AsType[*phrase.Phrase](err); is {
				wrong[q.Name] = r.Words(said)
			}
			continue
		}
		a := merchant.Asset{Hash: merchant.HashAsset(clean.Bytes), Kind: merchant.PNG, Bytes: clean.Bytes}
		if clean.JPEG {
			a.Kind = merchant.JPEG
		}
		change.Pictures, change.Is[q.Name] = append(change.Pictures, a), written.PicturePath(a.Hash)
	}
	return nil
}

// kept is the picture that a field names; nil: it names none.
func (p *pages) kept(r *desk.Request, value any) ([]byte, error) {
	hash, is := pictureAt(value)
	if !is {
		return nil, nil
	}
	a, err := p.Store.Asset(r.Context(), hash)
	return a.Bytes, service.Stored(err)
}

// partOf is the part of a picture that was typed, in percent: from the left and from the top, so wide and so high. What
// is left empty is as large as can be. ok: it is one.
func partOf(typed func(name string) string) (part picture.Part, ok bool) {
	read := func(name string, otherwise int) int {
		text := strings.TrimSuffix(strings.TrimSpace(typed(name)), "%")
		if text == "" {
			return otherwise
		}
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return n
		}
		return -1
	}
	part.Left, part.Top = read("left", 0), read("top", 0)
	part.Width, part.Height = read("width", 100-part.Left), read("height", 100-part.Top)
	return part, part.Check() == nil
}
