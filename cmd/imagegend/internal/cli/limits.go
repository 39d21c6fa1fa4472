package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// limitFlag declares --limit, which key create and key limit share.
func limitFlag(c *cobra.Command, l *admin.KeyLimits) {
	c.Flags().Var((*limitsValue)(l), "limit",
		"`limits` of the key, such as total=100,day=10,month=50,at-once=2,model=NAME: credits in all, in a UTC day "+
			"and in a UTC month, generations at once, and the models that can be used, each with a model= of its "+
			"own; without it, or with none, no limit")
}

// limitsValue is the value of --limit. Each occurrence adds to those before it, except none, which removes them. A
// limit that is given twice is refused, except model. Values are checked against what a limit can be when the key is
// made or changed.
type limitsValue admin.KeyLimits

const (
	noLimits  = "none"  // the text of a key without limits
	onlyModel = "model" // names a model that can be used; each has one of its own
)

// String shows the limits in the form that Set reads.
func (l *limitsValue) String() string {
	var shown []string
	for _, name := range limitNames {
		if n := l.limit(name); n != 0 {
			shown = append(shown, name+"="+strconv.FormatInt(n, 10))
		}
	}
	for _, m := range l.Models {
		shown = append(shown, onlyModel+"="+m)
	}
	if shown == nil {
		return noLimits
	}
	return strings.Join(shown, ",")
}

// Type names the value in help.
func (*limitsValue) Type() string { return "limits" }

// limitNames are the names of the limits that are numbers, in the order in which they are shown. limit and Set know
// each of them.
var limitNames = []string{"total", "day", "month", "at-once"}

// limit returns the limit of a name; 0: no limit. The name must be one of limitNames.
func (l *limitsValue) limit(name string) int64 {
	switch name {
	case "total":
		return int64(l.Credits)
	case "day":
		return int64(l.Daily)
	case "month":
		return int64(l.Monthly)
	}
	return int64(l.Concurrent)
}

// Set implements pflag.Value. After an error a part of the text may have been taken; the command does not run then.
func (l *limitsValue) Set(s string) error {
	// So "--limit none" on its own removes every limit from a key.
	if s == noLimits {
		*l = limitsValue{}
		return nil
	}
	for _, part := range strings.Split(s, ",") {
		// A part without = has an empty value, which is not a number.
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == onlyModel && value != "" {
			l.Models = append(l.Models, value)
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > int64(imagegen.MaxCredits) {
			return fmt.Errorf("a limit is a name, = and a number from 1, such as day=10, or model=NAME; the names are "+
				"%s; got %q", strings.Join(limitNames, ", "), part)
		}
		if slices.Contains(limitNames, name) && l.limit(name) != 0 {
			return fmt.Errorf("the limit %s is given twice; give it once", name)
		}
		switch name {
		case "total":
			l.Credits = imagegen.Credits(n)
		case "day":
			l.Daily = imagegen.Credits(n)
		case "month":
			l.Monthly = imagegen.Credits(n)
		case "at-once":
			l.Concurrent = int(n)
		default:
			return fmt.Errorf("%q is not a limit; the names are %s", name, strings.Join(limitNames, ", "))
		}
	}
	return nil
}
