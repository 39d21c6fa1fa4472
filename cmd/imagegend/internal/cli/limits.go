package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

// limitFlag declares --limit, which key create and key limit share.
func limitFlag(c *cobra.Command, l *admin.KeyLimits) {
	c.Flags().Var((*limitsValue)(l), "limit", "what the key can be used for: credits in `total`, credits in a UTC day or month, requests at once, such as\n"+
		"total=100,day=10,month=50,at-once=2; without it, or with none, no limit")
}

// limitsValue is the value of --limit. Each occurrence adds to those before it, except none, which removes them.
type limitsValue admin.KeyLimits

const noLimits = "none"

// String shows the limits in the form that Set reads.
func (l *limitsValue) String() string {
	var shown []string
	for _, name := range limitNames {
		if n := l.get(name); n != 0 {
			shown = append(shown, name+"="+strconv.FormatInt(n, 10))
		}
	}
	if shown == nil {
		return noLimits
	}
	return strings.Join(shown, ",")
}

// Type names the value in help.
func (*limitsValue) Type() string { return "limits" }

// limitNames are the names in the order in which they are shown.
var limitNames = []string{"total", "day", "month", "at-once"}

func (l *limitsValue) get(name string) int64 {
	switch name {
	case "total":
		return int64(l.Credits)
	case "day":
		return int64(l.Daily)
	case "month":
		return int64(l.Monthly)
	}
	return int64(l.AtOnce)
}

// Set implements pflag.Value. After an error a part of the text may have been taken; the command does not run then.
func (l *limitsValue) Set(s string) error {
	// So "--limit none" on its own removes every limit from a key.
	if s == noLimits {
		*l = limitsValue{}
		return nil
	}
	for _, part := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > int64(imagegen.MaxCredits) {
			return fmt.Errorf("a limit is a name, = and a number from 1, such as day=10; the names are %s; got %q", strings.Join(limitNames, ", "), part)
		}
		switch name {
		case "total":
			l.Credits = imagegen.Credits(n)
		case "day":
			l.Daily = imagegen.Credits(n)
		case "month":
			l.Monthly = imagegen.Credits(n)
		case "at-once":
			l.AtOnce = int(n)
		default:
			return fmt.Errorf("%q is not a limit; the names are %s", name, strings.Join(limitNames, ", "))
		}
	}
	return nil
}
