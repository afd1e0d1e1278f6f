package till

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAPreviewFollows: what is typed into the form for sending stands in the guest's page beside it, without a new
// step for the button Back, and without a script by a button.
func TestAPreviewFollows(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	d := s.staffDevice("ann@example.com")
	d.look("light", 1280, 800)
	d.open("/console/" + account + "/send")
	// a frame that loads has no body yet
	const guest = `(document.querySelector("iframe[name=preview]").contentDocument?.body?.innerText ?? "")`
	d.until("there is no preview", guest+`.includes("Harbor Coffee")`)
	steps := js[int](d, "history.length")
	d.do(chromedp.SendKeys(`[name="value"]`, "42.50"), chromedp.SendKeys(`[name="recipient"]`, "Grandma"))
	d.until("the preview does not follow", guest+`.includes("42.50") && `+guest+`.includes("Grandma")`)
	if now := js[int](d, "history.length"); now != steps {
		t.Errorf("the preview made %d steps for the button Back", now-steps)
	}
	d.do(chromedp.SetValue(`[name="message"]`, "For a rainy day"))
	// As without a script:
	js[*string](d, `{ const b = document.getElementById("preview-do"); b.hidden = false; b.classList.remove("unscripted"); null }`)
	d.tap("#preview-do")
	d.until("the button shows nothing", guest+`.includes("For a rainy day")`)
	d.shows("h1", "Send")
	d.console("console-preview")
	d.calm()
}
