package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// Two images are shown side by side with their differences. If only one is given, the page offers others.
func TestCompare(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	fox, owl := v.finish("a fox", 2, imagegen.StatusSucceeded), v.finish("an owl", 1, imagegen.StatusSucceeded)
	a, b := string(fox.Images[0].ID), string(owl.Images[0].ID)
	choose := v.get("compare?a=" + a)
	s.is.Equal(choose.StatusCode, http.StatusOK)
	s.is.True(choose.has("With which image?", "?a="+a+"&amp;b="+b, "?a="+a+"&amp;b="+string(fox.Images[1].ID)))
	s.is.True(!choose.has("b=" + a))
	both := v.get("compare?a=" + a + "&b=" + b)
	s.is.Equal(strings.Count(both.body, "<figure>"), 2)
	s.is.True(both.has(`<th scope="row">Prompt</th><td data-label="A"><span>a fox</span></td><td data-label="B"><span>an owl</span>`, "<dt>Model</dt><dd>fake-1</dd>",
		`href="/console/compare?a=`+b+`&amp;b=`+a+`">Swap`))
	alike := v.get("compare?a=" + a + "&b=" + string(fox.Images[1].ID))
	s.is.True(alike.has(`<div class="whole"><dt>Prompt</dt><dd>a fox</dd>`) && !alike.has("What differs"))
	for _, path := range []string{"compare", "compare?a=", "compare?a=x", "compare?a=" + a + "&b=x", "compare?b=" + b,
		"compare?a=" + a[:len(a)-3] + "777"} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
}
