package webtest

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// loaded is true when the page's scripts have run.
const loaded = "document.readyState === 'complete'"

// atRest brings an element into view and waits until it stops moving: a click goes to a
// position, and parts above it may still be loading.
const atRest = `async (selector) => {
	for (let still = 0, before = ""; still < 4; ) {
		await new Promise(requestAnimationFrame);
		const e = document.querySelector(selector);
		e?.scrollIntoView({ block: "center" });
		const { x, y } = e?.getBoundingClientRect() ?? {};
		still = before === x + " " + y ? still + 1 : 0;
		before = x + " " + y;
	}
}`

// Click clicks the first element that fits a CSS selector, once it is there.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Wait(loaded + " && document.querySelector(" + strconv.Quote(selector) + ")")
	p.Eval("("+atRest+")("+strconv.Quote(selector)+")", nil)
	p.Set(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type types a text into the first element that fits.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Wait("document.querySelector(" + strconv.Quote(selector) + ")")
	p.Set(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Press presses keys one after the other: "j", "?", or one of chromedp/kb such as
// kb.Escape.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	p.Wait(loaded)
	for _, key := range keys {
		p.Set(chromedp.KeyEvent(key))
	}
}

// Text returns the text of the first element that fits.
func (p *Page) Text(selector string) (text string) {
	p.t.Helper()
	p.Wait("document.querySelector(" + strconv.Quote(selector) + ")")
	p.Eval("document.querySelector("+strconv.Quote(selector)+").innerText", &text)
	return text
}

// Count returns the number of elements that fit.
func (p *Page) Count(selector string) (n int) {
	p.t.Helper()
	p.Eval("document.querySelectorAll("+strconv.Quote(selector)+").length", &n)
	return n
}

// Address returns the page's address, without the host.
func (p *Page) Address() (address string) {
	p.t.Helper()
	p.Eval("location.pathname + location.search + location.hash", &address)
	return address
}

// Options of axe-core: the contrast of colours is the slowest check and depends on the hue
// alone, all other checks on the layout alone.
const (
	everything  = "{}"
	layoutAlone = "{rules: {'color-contrast': {enabled: false}}}"
	hueAlone    = "{runOnly: ['color-contrast']}"
)

// Accessible fails the test for serious and critical findings of axe-core.
func (p *Page) Accessible() {
	p.t.Helper()
	p.accessible(everything)
}

func (p *Page) accessible(options string) {
	p.t.Helper()
	source, err := axe()
	if err != nil {
		p.t.Fatal(err)
	}
	var loaded bool
	if p.Eval("typeof axe !== 'undefined'", &loaded); !loaded {
		p.Eval(source+";0", nil)
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	p.Eval("axe.run({preload: false, resultTypes: ['violations'], ..."+options+"}).then(r => r.violations)", &found)
	for _, v := range found {
		if v.Impact != "serious" && v.Impact != "critical" {
			continue
		}
		for _, n := range v.Nodes[:min(5, len(v.Nodes))] {
			p.t.Errorf("%s: axe: %s (%s): %.300s\n%s", p.Address(), v.Help, v.Impact, n.HTML, n.FailureSummary)
		}
	}
}

// Look checks the page as it is now on a screen and on a phone, light and dark: it must be
// accessible, and fit the width of the phone. With RELABEL_TEST_PICTURES, a folder, it keeps
// pictures there, NAME-light.png and so on. Then it is light and on a screen again.
func (p *Page) Look(name string) {
	p.t.Helper()
	p.accessible(everything)
	p.Picture(name + "-light")
	p.Set(Phone())
	p.fits()
	p.accessible(layoutAlone)
	p.Picture(name + "-light-phone")
	p.Set(Dark())
	p.fits()
	p.Picture(name + "-dark-phone")
	p.Set(screen())
	p.accessible(hueAlone)
	p.Picture(name + "-dark")
	p.Set(light())
}

// fits fails the test if the page is wider than the screen.
func (p *Page) fits() {
	p.t.Helper()
	var wide []string
	p.Eval(`(() => { const w = document.documentElement.clientWidth; if (document.documentElement.scrollWidth <= w) return [];
		return [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > w + 1).slice(0, 5).map(e => e.outerHTML.slice(0, 200)); })()`, &wide)
	if len(wide) > 0 {
		p.t.Errorf("%s: wider than a phone: %s", p.Address(), strings.Join(wide, "\n"))
	}
}

// tallest is the largest height of a picture, in pixels.
const tallest = 3000

// Picture keeps a picture of the page from its top, NAME.png, in the folder
// RELABEL_TEST_PICTURES; it does nothing without one.
func (p *Page) Picture(name string) {
	p.t.Helper()
	if os.Getenv("RELABEL_TEST_PICTURES") == "" {
		return
	}
	var size []float64
	p.Eval("[document.documentElement.clientWidth, document.documentElement.scrollHeight]", &size)
	p.capture(name, page.CaptureScreenshotParams{Clip: &page.Viewport{Width: size[0], Height: math.Min(size[1], tallest), Scale: 1}, CaptureBeyondViewport: new(true)})
}

// Screen keeps a picture of the visible part of the page.
func (p *Page) Screen(name string) {
	p.t.Helper()
	p.capture(name, page.CaptureScreenshotParams{})
}

func (p *Page) capture(name string, how page.CaptureScreenshotParams) {
	p.t.Helper()
	folder := os.Getenv("RELABEL_TEST_PICTURES")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	taken, err := chromedp.Call(ctx, page.CaptureScreenshot, how)
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(folder, name+".png")
	if err := os.WriteFile(file, taken.Data, 0o644); err != nil {
		p.t.Fatal(fmt.Errorf("RELABEL_TEST_PICTURES: %w", err))
	}
}
