package imagegen_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Messages ask callers to try again only where that may succeed.
func TestMessagesOfFailures(t *testing.T) {
	for class, again := range map[imagegen.Class]bool{
		imagegen.ClassUnknown: true, imagegen.ClassRateLimited: true, imagegen.ClassUnavailable: true,
		imagegen.ClassInvalid: false, imagegen.ClassRefused: false, imagegen.ClassBlocked: false,
		imagegen.ClassCancelled: false,
	} {
		message := imagegen.Failure{Class: class, Detail: "a secret"}.Message()
		is := is.New(t)
		is.Equal(strings.Contains(message, "try again"), again)
		is.True(strings.Contains(message, "the credits were returned"))
		is.True(!strings.Contains(message, "secret"))
	}
}
