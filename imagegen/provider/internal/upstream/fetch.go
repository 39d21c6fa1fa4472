package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	maxRedirects = 3
	maxImage     = 256 << 20 // bytes
)

// Fetch opens the image at an address that the upstream named. The caller closes it. The key is
// not sent. The address must be an https URL (http too if the upstream is private), on a host
// that Options.ImageHosts permits, which has a public IP address (or a private one, likewise).
// The same holds for each of up to 3 redirects. The answer must be 200, of a type image/* or
// octet-stream, or of none; reading more than 256 MiB of it is an error. A data: URL is decoded, and an address that
// begins with a slash is made absolute.
//
// An error is of ClassUnknown, since the image was made, or it is the context's cause. None repeats the whole
// address: anybody who knows it may be able to fetch the image.
func (c *Client) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	if strings.HasPrefix(address, "data:") {
		return io.NopCloser(Base64(strings.NewReader(address))), nil
	}
	u, err := url.Parse(c.Absolute(address))
	if err != nil {
		return nil, unfetched("", errors.New("it is not a URL"))
	}
	if err := c.checkImageURL(u); err != nil {
		return nil, unfetched(u.Host, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, unfetched(u.Host, err)
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "image/png, image/jpeg, image/webp, */*;q=0.1")
	response, err := c.images.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, unfetched(u.Host, err)
	}
	if err := checkImage(response); err != nil {
		response.Body.Close()
		return nil, unfetched(u.Host, err)
	}
	return &answer{Reader: &limited{r: response.Body, left: maxImage}, body: response.Body, sent: &sending{}}, nil
}

// unfetched is the error of Fetch. Of the address it shows the host alone.
func unfetched(host string, err error) error {
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown,
		Message: fmt.Sprintf("the image at host %q could not be fetched", host), Err: err}
}

// checkImageURL checks an address before anything is sent to it. Which IP addresses its host
// has is checked at dialling.
func (c *Client) checkImageURL(u *url.URL) error {
	switch hosts := c.options.ImageHosts; {
	case u.User != nil || u.Hostname() == "":
		return errors.New("the address has no host, or a password")
	case hosts != nil && !matches(u, hosts):
		return fmt.Errorf("images may come from %v only", hosts)
	// Another host could be any service that only this machine can reach.
	case hosts == nil && c.options.Private && hostPort(u) != hostPort(c.base):
		return fmt.Errorf("images of a private upstream may come from its own address %s only, unless image hosts are configured", c.base.Host)
	}
	return checkScheme(u, c.options.Private)
}

// checkRedirect is the CheckRedirect of the client that fetches images.
func (c *Client) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	r.Header.Del("Referer") // anybody who knows the address before may be able to fetch the image
	return c.checkImageURL(r.URL)
}

// checkImage refuses answers that cannot be an image, such as a page that asks to sign in. What
// is in the body is checked by the engine.
func checkImage(r *http.Response) error {
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer was %d", r.StatusCode)
	}
	if r.ContentLength > maxImage {
		return errTooLong
	}
	declared := r.Header.Get("Content-Type")
	mediaType, _, _ := mime.ParseMediaType(declared)
	if declared == "" || strings.HasPrefix(mediaType, "image/") || strings.HasSuffix(mediaType, "/octet-stream") {
		return nil
	}
	return fmt.Errorf("it is of type %q, not an image", Excerpt([]byte(declared)))
}
