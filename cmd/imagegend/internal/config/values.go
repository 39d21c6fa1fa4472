package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/imagegen"
)

// choice is one of a few words; the first is the default.
type choice struct {
	value *string
	words []string
}

func newChoice(p *string, words ...string) *choice {
	*p = words[0]
	return &choice{p, words}
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("choose from %s", strings.Join(c.words, ", "))
	}
	*c.value = s
	return nil
}

// Words are what can be chosen, for completion.
func (c *choice) Words() []string { return c.words }

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "word" }

// duration refuses a number without a unit, which other programs read as nanoseconds.
type duration struct {
	value *time.Duration
	check func(time.Duration) error
	zero  string // the word for 0; "": none
}

// Duration is the value of a flag: more than 0, with a unit.
func Duration(p *time.Duration) pflag.Value { return &duration{value: p, check: positive} }

func newDuration(p *time.Duration, otherwise time.Duration, check func(time.Duration) error) pflag.Value {
	*p = otherwise
	return &duration{value: p, check: check}
}

// newPeriod is newDuration for one of which 0 means never.
func newPeriod(p *time.Duration, otherwise time.Duration, check func(time.Duration) error) pflag.Value {
	*p = otherwise
	return &duration{p, check, "never"}
}

func (d *duration) Set(s string) error {
	if s == d.zero && s != "" {
		*d.value = 0
		return nil
	}
	v, err := parseDuration(s)
	if err == nil {
		err = d.check(v)
	}
	if err == nil {
		*d.value = v
	}
	return err
}

func (d *duration) String() string {
	if *d.value == 0 && d.zero != "" {
		return d.zero
	}
	return shortDuration(*d.value)
}

func (d *duration) Type() string { return "duration" }

func anyDuration(time.Duration) error { return nil }

func positive(d time.Duration) error {
	if d == 0 {
		return errors.New("it must be more than 0s")
	}
	return nil
}

// retention is for ever, or long enough for idempotency keys to be kept as promised.
func retention(d time.Duration) error {
	if d != 0 && d < imagegen.ReservationTime {
		return fmt.Errorf("it is at least %s, or never, to keep them for ever", shortDuration(imagegen.ReservationTime))
	}
	return nil
}

// parseDuration reads a duration that is not negative. Go takes a 0 without a unit; here it needs one,
// as every number does.
func parseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("a duration needs a unit, such as %ss or %sh", s, s)
	}
	d, err := parseDays(s)
	if err != nil {
		return 0, errors.New("write a duration such as 90s, 15m, 12h or 30d")
	}
	if d < 0 {
		return 0, errors.New("a duration cannot be negative")
	}
	return d, nil
}

// parseDays is time.ParseDuration with whole days, which come first: 30d, 1d12h.
func parseDays(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n >= uint64(math.MaxInt64/day) {
		return 0, errors.New("no number of days")
	}
	if rest == "" {
		return time.Duration(n) * day, nil
	}
	further, err := time.ParseDuration(rest)
	if further < 0 || further >= day {
		return 0, errors.New("no part of a day")
	}
	return time.Duration(n)*day + further, err
}

// shortDuration leaves out what is zero: 24h, not 24h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// count is a whole number from least on.
type count struct {
	value *int
	least int
}

// Count is the value of a flag: a whole number from 1.
func Count(p *int) pflag.Value { return &count{p, 1} }

func newCount(p *int, otherwise int) *count { return newCountFrom(1, p, otherwise) }

func newCountFrom(least int, p *int, otherwise int) *count {
	*p = otherwise
	return &count{p, least}
}

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < c.least {
		return fmt.Errorf("write a whole number from %d", c.least)
	}
	*c.value = n
	return nil
}

func (c *count) String() string { return strconv.Itoa(*c.value) }
func (c *count) Type() string   { return "number" }

// baseURL is the address of a service, kept with its scheme in lower case, by which others tell whether
// it is TLS, and without a slash at its end; "" is none.
type baseURL struct{ value *string }

func newBaseURL(p *string, otherwise string) *baseURL {
	*p = otherwise
	return &baseURL{p}
}

func (b *baseURL) Set(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(s, "?#") {
		return errors.New("write an address such as https://images.example.com")
	}
	*b.value = strings.TrimRight(u.Scheme+s[len(u.Scheme):], "/")
	return nil
}

func (b *baseURL) String() string { return *b.value }
func (b *baseURL) Type() string   { return "URL" }

// Root is an address without its path: the console lies at the root of a host, also where a proxy
// serves the API below a path.
func Root(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// listenAddress is where a server listens.
type listenAddress struct{ value *string }

func newListenAddress(p *string, otherwise string) *listenAddress {
	*p = otherwise
	return &listenAddress{p}
}

func (a *listenAddress) Set(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("write an address such as 127.0.0.1:8080, or :8080 for every address of this machine")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("a port is a number from 0 to 65535; got %q", port)
	}
	*a.value = s
	return nil
}

func (a *listenAddress) String() string { return *a.value }
func (a *listenAddress) Type() string   { return "address" }
