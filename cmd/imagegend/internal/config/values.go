package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/imagegen"
)

// Duration is the value of a flag: a duration above 0, with a unit. p holds the default; 0 means that there is none,
// and help shows none.
func Duration(p *time.Duration) pflag.Value {
	v := newDuration(p, *p, positive)
	v.Format = ZeroAs("", shortDuration)
	return v
}

// newDuration returns a duration that check accepts, with otherwise as its default. A number without a unit is
// refused: other programs would read it as seconds, or as nanoseconds.
func newDuration(p *time.Duration, otherwise time.Duration, check func(time.Duration) error) *Value[time.Duration] {
	*p = otherwise
	return &Value[time.Duration]{To: p, Kind: "duration", Format: shortDuration,
		Parse: func(s string) (time.Duration, error) {
			d, err := parseDuration(s)
			return d, cmp.Or(err, check(d))
		}}
}

// newPeriod is newDuration for a period of which 0 means never, also written as that word.
func newPeriod(p *time.Duration, otherwise time.Duration, check func(time.Duration) error) pflag.Value {
	d := newDuration(p, otherwise, check)
	read := d.Parse
	d.Parse = func(s string) (time.Duration, error) {
		if s == "never" {
			return 0, nil
		}
		return read(s)
	}
	d.Format = ZeroAs("never", shortDuration)
	return d
}

// anyDuration accepts what parseDuration does: 0 and more.
func anyDuration(time.Duration) error { return nil }

// positive refuses 0; parseDuration has refused what is below it.
func positive(d time.Duration) error {
	if d == 0 {
		return errors.New("it must be more than 0s")
	}
	return nil
}

// retention accepts 0, which means never, or a time that is long enough for idempotency keys to be kept as promised.
func retention(d time.Duration) error {
	if d != 0 && d < imagegen.IdempotencyKeyLifetime {
		return fmt.Errorf("it is at least %s, or never, to keep them for ever",
			shortDuration(imagegen.IdempotencyKeyLifetime))
	}
	return nil
}

// parseDuration reads a duration that is not negative. Unlike Go it requires a unit also for 0.
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

// parseDays is time.ParseDuration with whole days in front, such as 30d and 1d12h. What follows the days is less than
// one.
func parseDays(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	// The bound keeps the sum below the longest Duration, some 292 years, with a day to spare for the rest.
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

// shortDuration writes a duration as the documents do: without trailing zeros, 24h rather than 24h0m0s; minutes and
// seconds as seconds, 800s rather than 13m20s; weeks and more as days.
func shortDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 7*day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d > time.Minute && d < time.Hour && d%time.Second == 0 && d%time.Minute != 0:
		return fmt.Sprintf("%ds", d/time.Second)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Count is the value of a flag: a whole number from 1. p holds the default.
func Count(p *int) pflag.Value { return newCount(1, p, *p) }

// newCount returns a whole number from least on, with otherwise as its default.
func newCount(least int, p *int, otherwise int) pflag.Value {
	*p = otherwise
	return &Value[int]{To: p, Kind: "number", Parse: func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return 0, fmt.Errorf("write a whole number from %d", least)
		}
		return n, nil
	}}
}

// declareBool declares a flag that may stand without a value, which means true.
func declareBool(fs *pflag.FlagSet, p *bool, name string, otherwise bool, usage string) {
	*p = otherwise
	fs.VarPF(&Value[bool]{To: p, Kind: "bool", Parse: parseBool}, name, "", usage).NoOptDefVal = "true"
}

// parseBool is strconv.ParseBool with an error for people.
func parseBool(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("write true or false")
	}
	return v, nil
}

// newWord returns a value that is one of words, of which the first is the default.
func newWord(p *string, words ...string) pflag.Value {
	*p = words[0]
	return NewChoice(p, words)
}

// newText returns a text that parse accepts, and may rewrite. kind is the placeholder in the help. The default,
// otherwise, is not parsed.
func newText(p *string, otherwise, kind string, parse func(string) (string, error)) pflag.Value {
	*p = otherwise
	return &Value[string]{To: p, Kind: kind, Parse: parse}
}

// parseBaseURL reads the address of a service. The scheme is kept in lower case, since others look at it to know
// whether the service speaks TLS; slashes at the end are removed. "" is refused.
func parseBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(s, "?#") {
		if host, _, err := net.SplitHostPort(s); err == nil && host != "" && !strings.Contains(s, "/") {
			return "", fmt.Errorf("http:// or https:// is missing; write http://%s, for example", s)
		}
		return "", errors.New("write an address such as https://images.example.com")
	}
	return strings.TrimRight(u.Scheme+s[len(u.Scheme):], "/"), nil
}

// parseIssuer reads the address of an OpenID issuer and keeps it as it is written: it must equal, letter by letter,
// what the issuer says of itself.
func parseIssuer(s string) (string, error) {
	if _, err := parseBaseURL(s); err != nil {
		return "", errors.New("write an address such as https://id.example.com")
	}
	return s, nil
}

// parseListenAddress reads an address to listen on. The port must be a number in its ordinary spelling.
func parseListenAddress(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("write an address such as 127.0.0.1:8080, or :8080 for every address of this machine")
	}
	// The comparison refuses spellings such as 08080, and names of services never parse.
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("a port is a number from 0 to 65535; got %q", port)
	}
	return s, nil
}

// parseOpsAddress is parseListenAddress, but an address without a host means this machine only. The interface for
// operators opens to others only if an address that they can reach is named.
func parseOpsAddress(s string) (string, error) {
	if strings.HasPrefix(s, ":") {
		s = "127.0.0.1" + s
	}
	if _, err := parseListenAddress(s); err != nil && s != "" {
		return "", errors.New("write an address such as 127.0.0.1:9090, or :9090 for this machine only")
	}
	return s, nil
}

// parseCurrency reads the code of a currency, which need not be one that there is.
func parseCurrency(s string) (string, error) {
	if len(s) != 3 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", errors.New("write three capital letters, such as EUR")
	}
	return s, nil
}

// newAmount returns an amount of money above 0. Help shows no default.
func newAmount(p *imagegen.Micros) pflag.Value {
	return &Value[imagegen.Micros]{To: p, Kind: "amount", Parse: func(s string) (imagegen.Micros, error) {
		v, err := imagegen.ParseMicros(s)
		if err != nil || v == 0 {
			return 0, errors.New("write an amount above 0 with at most six decimals, such as 0.01")
		}
		return v, nil
	}, Format: ZeroAs("", imagegen.Micros.String)}
}

// Root returns an address without its path, or as it is if it names no host. The console lies at the root of a host,
// even where a proxy serves the API below a path.
func Root(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}
