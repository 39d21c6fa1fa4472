package upstream

import (
	"math/big"
	"regexp"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const million = 1_000_000 // millionths in one

var (
	// decimal matches a number of JSON that is not negative and not so long that it would take time to read.
	decimal = regexp.MustCompile(`^\d{1,15}(\.\d{1,60})?([eE][+-]?\d{1,2})?$`)
	most    = new(big.Rat).SetInt64(1e12)
)

// Micros reads a number as it stands in an answer or a header, and rounds half up at the sixth decimal. What is not a
// number, negative or more than 1e12 is 0, like all that these functions cannot use: a figure is never worth an image.
func Micros(number string) imagegen.Micros {
	n := new(big.Rat)
	if !decimal.MatchString(number) {
		return 0
	}
	if n.SetString(number); n.Cmp(most) > 0 {
		return 0
	}
	n.Mul(n, big.NewRat(2*million, 1))
	halves := new(big.Int).Quo(n.Num(), n.Denom()).Int64() // Quo rounds down
	return imagegen.Micros((halves + 1) / 2)
}

// Count reads a number of tokens, without its decimals.
func Count(number string) int64 { return int64(Micros(number)) / million }

// Seconds reads a number of seconds, of which more than 1e9 is 0 too.
func Seconds(number string) time.Duration {
	n := Micros(number)
	if n > 1e9*million {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

// Tokens are what an answer says of tokens: In and Out in all, and the rest of them by kind.
type Tokens struct{ In, TextIn, ImageIn, Out, TextOut int64 }

// Usage divides the tokens. Of those in, what is not known to be of images is text; of those out, what is not known to
// be text is of images.
func (t Tokens) Usage() imagegen.UpstreamUsage {
	return imagegen.UpstreamUsage{TextInput: max(t.TextIn, t.In-t.ImageIn), ImageInput: t.ImageIn,
		TextOutput: t.TextOut, ImageOutput: max(0, t.Out-t.TextOut)}
}

// Report tells what the upstream says that r has used. It does not if that is nothing, or so absurd that a sum has
// overflowed.
func Report(r imagegen.ProviderRequest, u imagegen.UpstreamUsage) {
	least := min(u.TextInput, u.ImageInput, u.TextOutput, u.ImageOutput, int64(u.Units), int64(u.Time), u.Surplus)
	if r.Used != nil && least >= 0 && u != (imagegen.UpstreamUsage{}) {
		r.Used(u)
	}
}
