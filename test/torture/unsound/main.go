// Command unsound serves as boon does, with a mistake made on purpose between the engine and the store, which a test of
// the whole must notice. The program itself has no such code.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"

	"boon.example/internal/gift"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/sms"
	"boon.example/internal/server"
)

func main() {
	log.SetFlags(0)
	c := server.Config{
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		Ready:  func(address string) { fmt.Printf("listening on http://%s\n", address) },
	}
	mistake := flag.String("mistake", "",
		"captures, releases, transfers, codes, cards, locks, keys, saves, looks, waits or nothing")
	gateway := flag.String("gateway", "", "address that the mistake waits waits for")
	flag.StringVar(&c.Listen, "listen", "", "as of boon serve, and so are all that follow")
	flag.StringVar(&c.Data, "data", "", "")
	flag.StringVar(&c.Database, "database", "", "")
	flag.StringVar(&c.PublicURL, "public-url", "", "")
	flag.Func("smtp", "", func(url string) (err error) { c.SMTP, err = mail.ParseServer(url); return err })
	flag.Func("sms", "", func(url string) (err error) { c.SMS, err = sms.ParseAccount(url); return err })
	flag.Parse()
	c.Under = func(s engine.Store) engine.Store {
		switch *mistake {
		case "captures":
			return grasping{s, gift.Redemption}
		case "releases":
			return grasping{s, gift.HoldReleased}
		case "transfers":
			return generous{s}
		case "codes":
			return patient{s}
		case "cards":
			return clinging{s}
		case "locks":
			return unlocked{s}
		case "keys":
			return keyless{s}
		case "saves":
			return &forgetful{Store: s}
		case "waits":
			return waiting{s, *gateway}
		case "", "looks":
			return s
		}
		log.Fatalf("no mistake is called %q", *mistake)
		return nil
	}
	if *mistake == "looks" {
		c.Around = remembering
	}
	log.Fatal(server.Run(context.Background(), c))
}
