package console_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// A client that announces a body and sends none is disconnected soon, on every route.
func TestBodyThatDoesNotCome(t *testing.T) {
	s := open(t)
	for _, begin := range []string{"POST /console/signout", "POST /console/signin", "GET /console/signin",
		"POST /console/nothing"} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			browser := imagegentest.Piped(t, &http.Server{Handler: s.Console})()
			began := time.Now()
			_, err := fmt.Fprintf(browser,
				"%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\n", begin)
			is.NoErr(err)
			r := bufio.NewReader(browser)
			for err == nil {
				_, err = r.ReadByte()
			}
			is.True(time.Since(began) <= time.Minute)
		})
	}
}

// A client that reads no answer is disconnected soon, even if the answer is small.
func TestAnswerThatNobodyReads(t *testing.T) {
	s := open(t)
	for _, path := range []string{"/console/", "/console/signin"} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			browser := imagegentest.Piped(t, &http.Server{Handler: s.Console})()
			began := time.Now()
			browser.SetWriteDeadline(began.Add(time.Hour)) // else a connection that is never closed hangs the test
			var err error
			for err == nil {
				_, err = fmt.Fprintf(browser, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			}
			is.True(time.Since(began) <= 6*time.Minute)
		})
	}
}
