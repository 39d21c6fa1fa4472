package provider

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestParseDirectives(t *testing.T) {
	type parsed struct {
		Faults Faults
		Rest   string
	}
	for prompt, want := range map[string]parsed{
		"a fox":                               {Faults{}, "a fox"},
		"  a fox\n":                           {Faults{}, "  a fox\n"},
		"a [fake fox] or [two":                {Faults{}, "a [fake fox] or [two"},
		"[fake:fail]":                         {Faults{Fail: true}, ""},
		"a fox [fake:refuse]":                 {Faults{Refuse: true}, "a fox"},
		"[fake:hang] a fox":                   {Faults{Hang: true}, "a fox"},
		"a[fake:panic]fox":                    {Faults{Panic: true}, "a fox"},
		"[fake:corrupt]":                      {Faults{Corrupt: true}, ""},
		"[fake:crash]":                        {Faults{Crash: true}, ""},
		"[fake:transient=2]":                  {Faults{Transient: 2}, ""},
		"[fake:images=16]":                    {Faults{Images: 16}, ""},
		"[fake:tokens=1000000]":               {Faults{Tokens: 1_000_000}, ""},
		"[fake:delay=1m30s]":                  {Faults{Delay: 90 * time.Second}, ""},
		"[fake:images=2][fake:fail]":          {Faults{Images: 2, Fail: true}, ""},
		"[fake:transient=1] fox [fake:crash]": {Faults{Transient: 1, Crash: true}, "fox"},
		"[fa[fake:fail]ke:hang]":              {Faults{Fail: true}, "[fa ke:hang]"},
	} {
		t.Run(prompt, func(t *testing.T) {
			faults, rest, err := parseDirectives(prompt)
			is.New(t).NoErr(err)
			if diff := cmp.Diff(want, parsed{faults, rest}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseDirectivesRefuses(t *testing.T) {
	for prompt, hint := range map[string]string{
		"[fake:fial]":                         "[fake:fail]",
		"[fake:]":                             "[fake:fail]",
		"[fake:FAIL]":                         "[fake:fail]",
		"[fake: fail]":                        "[fake:fail]",
		"[fake:fail=]":                        "[fake:fail]",
		"[fake:fail=1]":                       "[fake:fail]",
		"a fox [fake:fail":                    "closing bracket",
		"[fake:transient]":                    "[fake:transient=N]",
		"[fake:transient=]":                   "[fake:transient=N]",
		"[fake:transient=0]":                  "[fake:transient=N]",
		"[fake:transient=-1]":                 "[fake:transient=N]",
		"[fake:transient=1.5]":                "[fake:transient=N]",
		"[fake:transient==1]":                 "[fake:transient=N]",
		"[fake:images=0]":                     "from 1 to 16",
		"[fake:images=17]":                    "from 1 to 16",
		"[fake:images=99999999999999]":        "from 1 to 16",
		"[fake:tokens=0]":                     "up to 1000000",
		"[fake:tokens=1000001]":               "up to 1000000",
		"[fake:delay=3]":                      "[fake:delay=3s]",
		"[fake:delay=-3s]":                    "[fake:delay=3s]",
		"[fake:delay=0s]":                     "[fake:delay=3s]",
		"[fake:fail][fake:fail]":              "twice",
		"[fake:images=1][fake:images=2]":      "twice",
		"[fake:fail] and [fake:hang] at once": "leave one out",
	} {
		t.Run(prompt, func(t *testing.T) {
			is := is.New(t)
			_, _, err := parseDirectives(prompt)
			refusal, ok := errors.AsType[*imagegen.ProviderError](err)
			is.True(ok)
			is.Equal(refusal.Class, imagegen.ClassInvalid)
			is.True(strings.Contains(refusal.Message, hint)) // the message says what to write
		})
	}
}

func FuzzParseDirectives(f *testing.F) {
	f.Add("a fox [fake:transient=2][fake:delay=3s]")
	f.Fuzz(func(t *testing.T, prompt string) {
		faults, rest, err := parseDirectives(prompt)
		if err != nil {
			refusal, ok := errors.AsType[*imagegen.ProviderError](err)
			if !ok || refusal.Class != imagegen.ClassInvalid || refusal.Message == "" {
				t.Errorf("%q was refused with %v", prompt, err)
			}
			return
		}
		if faults == (Faults{}) && rest != prompt {
			t.Errorf("%q has no directive and became %q", prompt, rest)
		}
		if more, again, err := parseDirectives(rest); err != nil || more != (Faults{}) || again != rest {
			t.Errorf("%q of %q still holds a directive: %+v, %v", rest, prompt, more, err)
		}
	})
}
