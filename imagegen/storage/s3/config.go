package s3

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Config says where objects are. [ParseURL] reads one from a URL.
type Config struct {
	Bucket string
	Prefix string // of every key, without a slash at its end; "": none
	// Endpoint is the address of the object store, "" for Amazon's in Region or what AWS_ENDPOINT_URL_S3 says.
	Endpoint string
	// PathStyle puts the bucket into the path of the address instead of its host, as most stores but Amazon's want it.
	PathStyle bool
	Region    string // "": what AWS_REGION says, else us-east-1
	// Dir is a local directory for files on their way. It may be emptied whenever no Store has it open. Files need none.
	Dir string
	// RequestTimeout bounds each request that moves no image, and each stretch of silence of one that does. 0: 30 s.
	RequestTimeout time.Duration
	// PartSize is how many bytes of one of Files go in one request, 5 MiB or more. 0: 64 MiB.
	PartSize int64
}

const defaultRequestTimeout = 30 * time.Second

// ParseURL reads a Config from s3://bucket/prefix, with the optional parameters endpoint, region and
// path_style: s3://images/production?endpoint=https://minio.example.com. An endpoint brings path_style, unless
// path_style=false says otherwise.
func ParseURL(s string) (Config, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Config{}, fmt.Errorf("s3: %q is not a URL: write s3://bucket/prefix", s)
	case u.Scheme != "s3" || u.Host == "" || u.Fragment != "":
		return Config{}, fmt.Errorf("s3: %q does not name a bucket: write s3://bucket/prefix", s)
	case u.User != nil:
		return Config{}, fmt.Errorf("s3: the address of bucket %s holds credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead", u.Host)
	}
	c := Config{Bucket: u.Host, Prefix: strings.Trim(path.Clean("/"+u.Path), "/")}
	return c, c.readQuery(u.RawQuery)
}

func (c *Config) readQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("s3: the parameters %q cannot be read: %w", raw, err)
	}
	c.PathStyle = query.Has("endpoint")
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "endpoint":
			if e, err := url.Parse(value); err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
				return fmt.Errorf("s3: the endpoint %q is not an address: write endpoint=https://host", value)
			}
			c.Endpoint = value
		case "region":
			c.Region = value
		case "path_style":
		default:
			return fmt.Errorf("s3: there is no parameter %s: there are endpoint, region and path_style", name)
		}
	}
	if value := query.Get("path_style"); value != "" {
		if c.PathStyle, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("s3: path_style is %q; it can be true or false", value)
		}
	}
	return nil
}

// newClient takes credentials from where Amazon's own tools look for them: the environment, the shared files, the
// machine's role.
func newClient(ctx context.Context, c Config) (*s3.Client, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("s3: the configuration of Amazon's library: %w", err)
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		if c.Region != "" {
			o.Region = c.Region
		}
		if o.Region == "" {
			o.Region = "us-east-1"
		}
		if c.Endpoint != "" {
			o.BaseEndpoint = &c.Endpoint
		}
		o.UsePathStyle = c.PathStyle
		// The checksums that the library adds by default fail at Ceph 16 over TLS; Content-MD5 is understood everywhere.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}), nil
}
