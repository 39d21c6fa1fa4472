package browsertest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the browser that all tests share; each tab of theirs has cookies of its own.
var chromium context.Context

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withChromium(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withChromium runs tests with a fresh profile, and without any host but this one.
func withChromium(run func() int) (code int, err error) {
	path, err := chromiumPath()
	if err != nil {
		return 0, err
	}
	profile, err := os.MkdirTemp("", "chromium-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(profile)) }()
	allocator, release := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path),
			chromedp.UserDataDir(profile),
			chromedp.NoSandbox, // root has none, and the pages are ours
			chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-component-update", true),
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
			chromedp.WindowSize(1280, 800),
		)...)
	defer release()
	browser, closeBrowser := chromedp.NewContext(allocator)
	defer closeBrowser()
	if err := chromedp.Do(browser); err != nil {
		return 0, fmt.Errorf("%s does not start: %w", path, err)
	}
	chromium = browser
	code = run()
	return code, chromedp.Cancel(browser)
}

func chromiumPath() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return exec.LookPath(path)
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("these tests need Chromium, and there is none on the PATH: install it (apt-get install chromium), " +
		"or name the program of a Chromium or Chrome by the environment variable CHROMIUM")
}
