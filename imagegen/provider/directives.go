package provider

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	opening   = "[fake:"
	maxImages = 16
	maxTokens = 1_000_000
	known     = "[fake:fail], [fake:refuse], [fake:hang], [fake:panic], [fake:corrupt], [fake:crash], " +
		"[fake:transient=N], [fake:images=M] with M from 1 to 16, [fake:tokens=T] with T up to 1000000, " +
		"[fake:delay=3s], and [fake:each=1s]"
)

// parseDirectives reads the directives in a prompt, which the comment of Fake lists, and returns the
// prompt without them. An error is an *imagegen.ProviderError of ClassInvalid whose Message says what to
// change. With an error the other results mean nothing.
func parseDirectives(prompt string) (f Faults, rest string, err error) {
	text, after, found := strings.Cut(prompt, opening)
	if !found {
		return Faults{}, prompt, nil
	}
	var names []string
	for found {
		directive, tail, closed := strings.Cut(after, "]")
		if !closed {
			return Faults{}, "", invalid("the directive %s has no closing bracket", quote(opening+directive))
		}
		name, err := f.set(directive)
		if err != nil {
			return Faults{}, "", err
		}
		names = append(names, name)
		var between string
		between, after, found = strings.Cut(tail, opening)
		text += " " + between // the space prevents the two parts from forming a new directive
	}
	return f, strings.TrimSpace(text), compatible(names)
}

// set applies one directive, given as it was written but without "[fake:" and "]". It returns the directive's name,
// by which compatible finds repetitions.
func (f *Faults) set(directive string) (name string, err error) {
	name, _, _ = strings.Cut(directive, "=")
	argument := directive[len(name):]
	ok := false
	if on := f.switches()[name]; on != nil {
		*on, ok = true, argument == ""
	}
	switch name {
	case "transient":
		f.Transient, ok = positive(argument)
	case "images":
		f.Images, ok = positive(argument)
		ok = ok && f.Images <= maxImages
	case "tokens":
		f.Tokens, ok = positive(argument)
		ok = ok && f.Tokens <= maxTokens
	case "delay":
		f.Delay, err = time.ParseDuration(strings.TrimPrefix(argument, "="))
		ok = err == nil && f.Delay > 0
	case "each":
		f.Each, err = time.ParseDuration(strings.TrimPrefix(argument, "="))
		ok = err == nil && f.Each > 0
	}
	if !ok {
		return "", invalid("%s is not a directive of the fake provider; it knows %s", quote(opening+directive+"]"),
			known)
	}
	return name, nil
}

// switches are the faults that a directive without an argument turns on.
func (f *Faults) switches() map[string]*bool {
	return map[string]*bool{"fail": &f.Fail, "refuse": &f.Refuse, "hang": &f.Hang, "panic": &f.Panic,
		"corrupt": &f.Corrupt, "crash": &f.Crash}
}

// positive reads "=N".
func positive(argument string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(argument, "="))
	return n, err == nil && n > 0
}

// compatible refuses a directive that occurs twice and two directives that both end the call. It sorts names.
//
// transient and images are not among the endings: transient ends only the first calls, and images says how many images
// come before the end.
func compatible(names []string) error {
	ends := []string{"crash", "panic", "hang", "refuse", "fail"}
	slices.Sort(names)
	var end string
	for i, name := range names {
		if i > 0 && name == names[i-1] {
			return invalid("the directive [fake:%s] occurs twice; leave one out", name)
		}
		if !slices.Contains(ends, name) {
			continue
		}
		if end != "" {
			return invalid("[fake:%s] and [fake:%s] end the call in two ways; leave one out", end, name)
		}
		end = name
	}
	return nil
}

func invalid(format string, args ...any) error {
	return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: fmt.Sprintf(format, args...)}
}

// quote quotes text from a prompt for a message, shortened to 60 characters.
func quote(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}
