package daemon

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
)

// announce says what runs, and that it is ready: lines for people, or one record for programs.
func (d *daemon) announce(welcome []string) {
	ready := time.Since(d.began).Round(time.Millisecond)
	if !d.options.text() {
		for _, w := range d.warnings() {
			d.log.Warn(w)
		}
		d.log.Info("ready", "version", d.options.Version, "listen", d.listenURL(), "url", d.url(), "data_dir", d.options.DataDir,
			"models", d.modelLines(), "admin", d.socket.Addr().String(), "after", ready.String())
		return
	}
	w := d.options.Output
	fmt.Fprintf(w, "imagegend %s\n", d.options.Version)
	line := func(name, text string) { fmt.Fprintf(w, "  %-9s %s\n", name, text) }
	line("listening", d.listenURL())
	if d.options.BaseURL != "" {
		line("public", d.options.BaseURL)
	}
	if d.options.Dev {
		line("data", d.options.DataDir+", removed at exit")
	} else {
		line("data", d.options.DataDir+", admin socket "+d.shortSocket())
	}
	line("models", strings.Join(d.modelLines(), "; "))
	for _, warning := range d.warnings() {
		line("WARNING", warning)
	}
	fmt.Fprintf(w, "ready in %v\n", ready)
	for _, line := range welcome {
		fmt.Fprintln(w, line)
	}
}

// url is where callers reach the service, as far as it knows.
func (d *daemon) url() string { return cmp.Or(d.options.BaseURL, d.listenURL()) }

// listenURL is where this machine reaches the service.
func (d *daemon) listenURL() string {
	addr := d.listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

func (d *daemon) shortSocket() string {
	place := d.socket.Addr().String()
	if dir, err := filepath.Abs(d.options.DataDir); err == nil && filepath.Dir(place) == dir {
		return filepath.Base(place)
	}
	return place
}

// modelLines describe the models: "fake-1 by fake (credits 1K 1, 2K 2, 4K 4)".
func (d *daemon) modelLines() []string {
	var lines []string
	for _, m := range d.models {
		var prices []string
		for _, t := range m.Tiers {
			prices = append(prices, fmt.Sprintf("%s %d", t, m.Credits[t]))
		}
		lines = append(lines, fmt.Sprintf("%s by %s (credits %s)", m.ID, m.Provider, strings.Join(prices, ", ")))
	}
	return lines
}

func (d *daemon) warnings() []string {
	var warnings []string
	fake := slices.ContainsFunc(d.models, func(m imagegen.ModelInfo) bool { return m.Provider == "fake" })
	if fake && !d.options.Dev {
		warnings = append(warnings, "THE PROVIDER fake DRAWS TEST PICTURES, and charges for them; put real models into models.yaml")
	}
	if !loopback(d.listener) && !strings.HasPrefix(d.options.BaseURL, "https://") {
		warnings = append(warnings, "other machines can reach "+d.listener.Addr().String()+" without TLS, and API keys cross the wire in the clear; put a TLS proxy in front and name it with --base-url https://…")
	}
	return warnings
}

// welcome is what a newcomer needs next: with --dev an account and a line to paste, for an empty
// store how to make a user and a key.
func (d *daemon) welcome(ctx context.Context) ([]string, error) {
	if d.options.Dev {
		return d.welcomeDev(ctx)
	}
	users, err := d.engine.Accounts().Users(ctx)
	if err != nil || len(users) > 0 {
		return nil, err
	}
	dir := ""
	if d.options.DataDir != config.DefaultDataDir {
		dir = " --data-dir " + shellQuote(d.options.DataDir)
	}
	return []string{
		"no user yet; in another terminal:",
		"  imagegend user create alice --credits 1000" + dir,
		"  export IMAGEGEND_API_KEY=$(imagegend key create --user alice" + dir + ")",
		"  imagegend generate 'a fox in the snow' --url " + d.listenURL(),
	}, nil
}

func (d *daemon) welcomeDev(ctx context.Context) ([]string, error) {
	u, err := d.openAccount(ctx)
	if err != nil {
		return nil, err
	}
	key, _, err := d.engine.Accounts().MintKey(ctx, u.ID, "dev", time.Time{})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("user %s has %d credits and the key %s", u.Name, devCredits, key.Reveal()),
		"paste this for an image:",
		curlLine(d.listenURL(), key, d.models[0].ID),
	}, nil
}

// curlLine asks for an image and saves it, with no more than curl and what every shell has beside it.
func curlLine(url string, key imagegen.Secret, model string) string {
	return fmt.Sprintf(`curl -s %s/api/v1/images/generations -H 'Authorization: Bearer %s' -H 'Content-Type: application/json'`+
		` -d '{"model": "%s", "prompt": "a fox in the snow"}' | grep -o 'http[^"]*/images/[^"]*' | head -n 1 | xargs curl -so fox.png`,
		url, key.Reveal(), model)
}

func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
