package upstream

import "net/url"

// CheckImageURL is what decides whether an image is fetched.
func (c *Client) CheckImageURL(u *url.URL) error { return c.checkImageURL(u) }
