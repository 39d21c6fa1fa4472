package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
)

// announce says what runs, and that it is ready: as lines for people, or as one record of the log for programs, which
// wait for its message "ready".
func (d *daemon) announce(welcome []string) {
	after := time.Since(d.began).Round(time.Millisecond)
	if d.options.text() {
		d.print(after, welcome)
		return
	}
	for _, w := range d.warnings() {
		d.log.Warn(w)
	}
	attrs := []any{"version", d.options.Version, "listen", d.boundURL(), "url", d.url(), "data_dir", d.options.DataDir,
		"models", d.modelLines(), "console", d.options.Console, "admin", d.socket.Addr().String(), "after",
		after.String()}
	if d.options.File != "" {
		attrs = append(attrs, "config", d.options.File)
	}
	if d.ops != nil {
		attrs = append(attrs, "ops", d.ops.url())
	}
	if len(welcome) > 0 {
		attrs = append(attrs, "next", welcome)
	}
	ready := slog.NewRecord(time.Now(), slog.LevelInfo, "ready", 0)
	ready.Add(attrs...)
	// The handler is called directly, so that --log-level does not suppress the record: programs wait for it, and it
	// has the link for the first operator.
	_ = d.log.Handler().Handle(context.Background(), ready)
}

// print writes the announcement for people. It is one write, so that no line of the log comes in between and no
// reader sees half of it.
func (d *daemon) print(ready time.Duration, welcome []string) {
	w := new(strings.Builder)
	line := func(name, text string) { fmt.Fprintf(w, "  %-9s %s\n", name, text) }
	fmt.Fprintf(w, "imagegend %s\n", d.options.Version)
	listening := d.boundURL()
	if here := d.listenURL(); here != listening {
		listening += ", on this machine " + here
	}
	line("listening", listening)
	if d.options.BaseURL != "" {
		line("public", d.options.BaseURL)
	}
	if d.options.Dev {
		line("data", d.options.DataDir+", removed at exit")
	} else {
		line("data", d.options.DataDir+", admin socket "+d.shortSocket())
	}
	if d.options.File != "" {
		line("config", d.options.File)
	}
	if d.options.Console {
		line("console", d.consoleURL())
	}
	if d.ops != nil {
		line("ops", d.ops.url())
	}
	line("models", strings.Join(d.modelLines(), "; "))
	for _, warning := range d.warnings() {
		line("WARNING", warning)
	}
	fmt.Fprintf(w, "ready in %v\n", ready)
	for _, line := range welcome {
		fmt.Fprintln(w, line)
	}
	io.WriteString(d.options.Output, w.String())
}

// url returns where callers reach the service, as far as the service knows.
func (d *daemon) url() string { return cmp.Or(d.options.BaseURL, d.listenURL()) }

// boundURL returns where the service listens. That may be an unspecified address, which means every address of this
// machine.
func (d *daemon) boundURL() string { return d.scheme() + d.listener.Addr().String() }

// scheme returns the beginning of addresses at which the service itself is reached.
func (d *daemon) scheme() string {
	if d.options.encrypts() {
		return "https://"
	}
	return "http://"
}

// listenURL returns an address at which a program on this machine reaches the service. With a certificate from an
// authority that is the domain, which the certificate is for.
func (d *daemon) listenURL() string {
	addr := d.listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	switch {
	case len(d.options.ACMEDomains) > 0 && addr.Port == 443:
		return d.scheme() + d.options.ACMEDomains[0]
	case len(d.options.ACMEDomains) > 0:
		host = d.options.ACMEDomains[0]
	case addr.IP.IsUnspecified():
		host = "localhost"
	}
	return d.scheme() + net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

// shortSocket returns the name of the admin socket if it lies in the data directory, else its path. The directory is
// shown on the same line.
func (d *daemon) shortSocket() string {
	place := d.socket.Addr().String()
	data, err := os.Stat(d.options.DataDir)
	dir, dirErr := os.Stat(filepath.Dir(place))
	if err == nil && dirErr == nil && os.SameFile(data, dir) {
		return filepath.Base(place)
	}
	return place
}

// modelLines describes the models, such as "fake-1 by fake (credits 1K 1, 2K 2, 4K 4)".
func (d *daemon) modelLines() []string {
	return lists.Each(d.models, func(m imagegen.ModelInfo) string {
		return fmt.Sprintf("%s by %s (%s)", m.ID, m.Provider, prices(m.Credits))
	})
}

// warnings lists what an operator should know. They are shown at the start; after a reload those are logged that are
// new.
func (d *daemon) warnings() []string {
	warnings := slices.Clone(d.options.Warnings)
	fake := slices.ContainsFunc(d.models, func(m imagegen.ModelInfo) bool { return m.Provider == "fake" })
	// Its pictures cost real credits, unlike those of --dev.
	if fake && !d.options.Dev {
		warnings = append(warnings,
			"THE PROVIDER fake DRAWS TEST PICTURES, and charges for them; put real models into models.yaml")
	}
	// A proxy may speak TLS in front of it, which only --base-url can tell.
	if !loopback(d.listener) && !d.options.secure() {
		warnings = append(warnings, "other machines can reach "+d.listener.Addr().String()+
			" without TLS, and API keys and passwords cross the wire in the clear; give it a certificate with --tls-cert or --acme-domain; if a proxy speaks TLS in front of it, name the proxy's address with --base-url https://…")
	}
	if d.ops != nil && !loopback(d.ops.Listener) {
		warnings = append(warnings, "other machines can reach "+d.ops.Addr().String()+
			" and read there, without a key, what the service does; let only your monitoring reach it")
	}
	return warnings
}
