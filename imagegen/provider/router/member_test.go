package router

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// An upstream that asked for a pause is left alone for as long as it asked, though another answer of it names none.
func TestAPauseIsNotShortened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m member
		m.pause(20 * time.Second)
		m.pause(0)
		is.New(t).Equal(m.pauseLeft(), 20*time.Second)
	})
}
