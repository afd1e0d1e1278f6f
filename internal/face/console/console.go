// Package console is Boon for people who work with gifts and write no programs: pages on which the staff of an account
// sell, look after and account for gifts.
//
// Pages are plain HTML, rendered on the server. They load nothing from another host, and work without a script. What
// somebody does there is handed to the JSON interface as a call of theirs, so that rules, limits, idempotency and the
// log are the same as for a key, and histories have the person's name.
//
// Package desk is what all pages stand on. The other packages below are the parts of the console: each has its pages,
// as rows of a table, and their templates. To add a page to a part:
//
//   - Add its row, a desk.Page, to the table of the part, and write the function that the row names.
//   - Add its template to the folder templates of the part.
//   - Add its texts to package post/locale, in each language of the console.
//   - Add a test to package server, which opens the page as somebody who may see it.
//
// A new part is a row in parts. What it needs of a database is an interface of its own, which Store names.
package console

import (
	"log/slog"
	"net/http"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/openid"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/face/console/gifts"
	"boon.example/internal/face/console/moving"
	"boon.example/internal/face/console/reports"
	"boon.example/internal/face/console/setup"
	"boon.example/internal/face/console/signin"
	"boon.example/internal/face/console/stock"
	"boon.example/internal/face/console/today"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// Config is what the console works with.
type Config struct {
	PublicURL string // how people reach the service
	Service   *service.Service
	// Operations carries out the operations of the JSON interface, by their paths below it.
	Operations http.Handler
	Store      Store
	Directory  func() *merchant.Directory // the newest set-up
	Keys       signin.Keys
	Reading    *fair.Places // in which the books are read, here and for reports
	Beginner   signin.Beginner
	Email, SMS bool             // the service sends e-mail; SMS
	Provider   *openid.Provider // of OpenID Connect; nil: there is none
	Log        *slog.Logger
	Setup      setup.Config
}

// Store is what the console needs of a database.
type Store interface {
	desk.Store
	gifts.Store
	reports.Store
	signin.Store
	stock.Store
	today.Store
}

// Path is where the console is. Below it stands the id of an account.
const Path = desk.Path

// Handler serves everything under Path. The navigation has the pages in the order of the parts.
func Handler(c Config) http.Handler {
	return desk.Handler(desk.Config{PublicURL: c.PublicURL, Service: c.Service, Operations: c.Operations, Store: c.Store,
		Directory: c.Directory, FieldNames: setup.FieldNames}, parts(&c)...)
}

// parts are the parts of the console, in the order of the navigation.
func parts(c *Config) []desk.Part {
	return []desk.Part{
		today.Part(c.Store, c.Reading),
		gifts.Part(c.Store, c.sample, c.Email || c.SMS),
		stock.Part(c.Store),
		reports.Part(c.Store),
		moving.Part(),
		setup.Part(c.Setup),
		signin.Part(signin.Config{PublicURL: c.PublicURL, Store: c.Store, Directory: c.Directory, Keys: c.Keys,
			Beginner: c.Beginner, Email: c.Email, Provider: c.Provider, Log: c.Log}),
	}
}

// sample shows a gift that there is not on its page.
func (c *Config) sample(a *merchant.Account, g gift.Gift) http.Handler {
	return c.Setup.Sample(setup.Sample{Look: setup.OnPage, Gift: g, Account: a})
}

// Pages lists the pages of all parts.
func Pages() (all []desk.Page) {
	for _, part := range parts(&Config{}) {
		all = append(all, part.Pages...)
	}
	return all
}
