package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to do what a test waits for, on a busy machine.
const patience = time.Minute

// Page is a tab with its own cookies. Its methods fail the test on errors.
type Page struct {
	t     testing.TB
	ctx   context.Context
	close context.CancelFunc
	host  string

	mu       sync.Mutex
	problems []string
	expected []string
	bytes    float64
}

// Setting changes the display of a page, or its cookies.
type Setting = chromedp.Action[chromedp.Void]

// Cookie gives the page's browser a cookie for an address.
func Cookie(address, name, value string) Setting {
	return send(network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: address, HTTPOnly: new(true)})
}

// Dark shows the page in dark colours instead of light ones.
func Dark() Setting { return scheme("dark") }

// Phone shows the page on 390 × 844 pixels instead of 1280 × 800.
func Phone() Setting {
	return send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 2, Mobile: true})
}

// Offline blocks all requests of the page.
func Offline() Setting {
	all := &network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}
	return send(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{all}})
}

func light() Setting { return scheme("light") }

func screen() Setting {
	return send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1})
}

func scheme(name string) Setting {
	return send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// send is a command of the protocol as an action.
func send[P, R any](command cdp.Command[P, R], parameters P) Setting {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, parameters)
		return err
	})
}

// Open opens an address in a new tab and waits until it is loaded. Errors on the page's console
// and requests to other hosts fail the test when it ends.
func Open(t testing.TB, address string, settings ...Setting) *Page {
	t.Helper()
	parent, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	p := &Page{t: t, ctx: ctx, close: cancel, host: u.Host}
	t.Cleanup(func() {
		cancel()
		p.checkProblems()
	})
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.Set(send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}), screen(), light())
	p.Set(settings...)
	p.Go(address)
	return p
}

// Close closes the tab before the test ends.
func (p *Page) Close() { p.close() }

// Set changes the display of the page: Dark(), Phone().
func (p *Page) Set(actions ...Setting) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v\nthe page: %s", err, strings.Join(p.said(), "\n"))
	}
}

// hear records the problems of a page and the bytes that it loads.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, "exception: "+exception(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			p.problems = append(p.problems, "console: "+arguments(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != p.host && u.Scheme != "data" && u.Scheme != "blob" && u.Scheme != "about" {
			p.problems = append(p.problems, "a request to elsewhere: "+e.Request.URL)
		}
	case *network.EventLoadingFinished:
		p.bytes += e.EncodedDataLength
	}
}

func arguments(all []*runtime.RemoteObject) string {
	var words []string
	for _, a := range all {
		words = append(words, strings.Trim(string(a.Value)+" "+a.Description, " "))
	}
	return strings.Join(words, " ")
}

func (p *Page) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Expect accepts problems that contain a text, such as "404".
func (p *Page) Expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, text)
}

func (p *Page) checkProblems() {
	for _, problem := range p.said() {
		wanted := slices.ContainsFunc(p.expected, func(text string) bool { return strings.Contains(problem, text) })
		if !wanted {
			p.t.Errorf("the page: %s", problem)
		}
	}
}

// Bytes returns the bytes that the page has loaded so far, as transferred.
func (p *Page) Bytes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.bytes)
}

// Go opens an address and waits until it is loaded.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.Set(chromedp.Navigate(address))
}

// Eval evaluates an expression or a promise, and reads its value into result unless that is nil.
func (p *Page) Eval(expression string, result any) {
	p.t.Helper()
	raw, err := p.evaluate(expression)
	if err == nil && result != nil {
		err = json.Unmarshal(raw, result)
	}
	if err != nil {
		p.t.Fatalf("%.300s: %v\nthe page: %s", expression, err, strings.Join(p.said(), "\n"))
	}
}

func (p *Page) evaluate(expression string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
}

// Wait waits until an expression is true and the page is loaded, also across navigations.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	ask := "(() => { try { return document.readyState === 'complete' && !!(" + expression + "); } catch { return false; } })()"
	tick, late := time.NewTicker(30*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for {
		if value, err := p.evaluate(ask); err == nil && string(value) == "true" {
			return
		}
		select {
		case <-tick.C: // errors occur while the page navigates
		case <-late:
			text, _ := p.evaluate("document.body.innerText") // for the message
			p.t.Fatalf("not true within a minute: %s\n%.1500s\nthe page: %s", expression, text, strings.Join(p.said(), "\n"))
		}
	}
}

func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return fmt.Sprintf("%s %s:%d", e.Text, e.URL, e.LineNumber+1)
}
