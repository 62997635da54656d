// Package webtest drives a real browser through pages: one Chromium per test binary, with a
// separate profile for every page. An error on the console of a page fails its test, and so does
// a request to any other host.
package webtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// browser is shared by all tests of a binary.
var browser struct {
	sync.Mutex
	ctx  context.Context
	stop func()
	err  error
}

// tabsPerCore is how many tests run at a time for each core, without -parallel: they wait for
// pages most of the time.
const tabsPerCore = 3

// Main runs the tests of a package that opens pages, and ends the browser after them:
//
//	func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
func Main(m *testing.M) int {
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		_ = n.Value.Set(strconv.Itoa(tabsPerCore * runtime.GOMAXPROCS(0))) // it is a number
	}
	code := m.Run()
	browser.Lock()
	defer browser.Unlock()
	if browser.stop != nil {
		browser.stop()
	}
	return code
}

// shared returns the browser and starts it at the first call.
func shared() (context.Context, error) {
	browser.Lock()
	defer browser.Unlock()
	if browser.ctx == nil && browser.err == nil {
		browser.ctx, browser.stop, browser.err = startBrowser()
	}
	return browser.ctx, browser.err
}

func startBrowser() (ctx context.Context, stop func(), err error) {
	program, err := findBrowser()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run sandboxed as root
	}
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, leave := chromedp.NewContext(allocated)
	if err := chromedp.Do(ctx); err != nil {
		leave()
		end()
		return nil, nil, fmt.Errorf("%s does not start: %w", program, err)
	}
	return ctx, func() { leave(); end() }, nil
}

// findBrowser finds Chromium, which scripts/install.sh --tests installs.
func findBrowser() (string, error) {
	names := []string{os.Getenv("RELABEL_TEST_BROWSER"), "chromium", "google-chrome"}
	for _, name := range names {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium on the PATH: run scripts/install.sh --tests, or set RELABEL_TEST_BROWSER")
}

// axe is the source of axe-core, which scripts/axe.sh fetches.
var axe = sync.OnceValues(func() (string, error) {
	root, err := os.Getwd()
	for err == nil && root != "/" {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	var stderr strings.Builder
	cmd := exec.Command(filepath.Join(root, "scripts/axe.sh"))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/axe.sh: %w: %s", err, stderr.String())
	}
	source, err := os.ReadFile(strings.TrimSpace(string(out)))
	return string(source), err
})
