package upstream

import (
	"io"
	"net/url"
)

// CheckImageURL is what decides whether an image is fetched.
func (c *Client) CheckImageURL(u *url.URL) error { return c.checkImageURL(u) }

// Answer is the body of a response.
func Answer(r io.ReadCloser) io.Reader { return &answer{Reader: r, body: r, sent: &sending{}} }
