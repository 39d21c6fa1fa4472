package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// Config says where the objects are. [ParseURL] makes one from a URL. Credentials come from the places that Amazon's
// own tools use: the environment, the shared files, the role of a container. The role of an EC2 machine, which is asked
// for at the machine's metadata address, counts only if AWS_EC2_METADATA_DISABLED is "false".
type Config struct {
	Bucket string // required
	Prefix string // of every key, without a slash at its end; "": none
	// Endpoint is the address of the object store; "": that in AWS_ENDPOINT_URL_S3, else Amazon's in Region.
	Endpoint string
	// PathStyle puts the bucket into the path of the address instead of its host. Most stores except Amazon's need
	// that.
	PathStyle bool
	Region    string // "": that in AWS_REGION, else us-east-1
	// Dir is a local directory for temporary files, which Open creates or empties; two Stores must not share one. Its
	// contents can be deleted while no Store has it open. Open requires it; OpenFiles does not use it.
	Dir string
	// RequestTimeout bounds the whole of a request that transfers no content. For a request that does, it bounds each
	// pause in the transfer, so that a slow network does not interrupt a large one. Completing a file of several parts
	// may take at least 5 minutes. 0: 30 s.
	RequestTimeout time.Duration
	// PartSize is how many bytes of a file Files.Put sends in one request; at least 5 MiB, the minimum of the
	// protocol. 0: 64 MiB.
	PartSize int64
}

const defaultRequestTimeout = 30 * time.Second

// ParseURL makes a Config from s3://bucket/prefix, with the optional parameters endpoint, region and path_style:
// s3://images/production?endpoint=https://minio.example.com. An endpoint implies path_style, unless path_style=false
// is given. Credentials in the URL are an error, since URLs appear in logs and process lists.
func ParseURL(s string) (Config, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil: // not repeated: it may hold credentials
		return Config{}, errors.New("s3: the address is not a URL: write s3://bucket/prefix")
	case u.Scheme != "s3" || u.Host == "" || u.Fragment != "":
		return Config{}, fmt.Errorf("s3: %q does not name a bucket: write s3://bucket/prefix", u.Redacted())
	case u.User != nil:
		return Config{},
			fmt.Errorf("s3: the address of bucket %s holds credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead", u.Host)
	}
	c := Config{Bucket: u.Host, Prefix: strings.Trim(path.Clean("/"+u.Path), "/")}
	return c, c.readQuery(u.RawQuery)
}

// readQuery takes the parameters of an address. path_style is read last, since it overrides what an endpoint implies.
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
			return fmt.Errorf("s3: there is no parameter %s: the parameters are endpoint, region and path_style", name)
		}
	}
	if value := query.Get("path_style"); value != "" {
		if c.PathStyle, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("s3: path_style is %q; it must be true or false", value)
		}
	}
	return nil
}

// newClient returns a client, and asks the object store nothing. The client repeats requests that fail temporarily.
func newClient(ctx context.Context, c Config) (*client, error) {
	// The library would ask the metadata address, for seconds, on every machine where it finds no credentials.
	metadata := imds.ClientDisabled
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "false") {
		metadata = imds.ClientEnabled
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithEC2IMDSClientEnableState(metadata))
	if err != nil {
		return nil, fmt.Errorf("s3: the configuration of Amazon's library cannot be loaded: %w", err)
	}
	region := cmp.Or(c.Region, loaded.Region, "us-east-1")
	bucket, err := bucketURL(cmp.Or(c.Endpoint, configuredEndpoint(ctx, loaded), amazon(region)), c.Bucket, c.PathStyle)
	if err != nil {
		return nil, err
	}
	return &client{
		http: loaded.HTTPClient, credentials: credentials{loaded.Credentials, metadata == imds.ClientDisabled},
		// A key is escaped once in its address, and not again where that is signed.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
		retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = cmp.Or(loaded.RetryMaxAttempts, o.MaxAttempts)
		}),
		bucket: bucket, region: region,
	}, nil
}

// amazon returns the address of Amazon's object store in a region.
func amazon(region string) string {
	host := "https://s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	return host
}

// endpointIgnorer and endpointSource are what a source of Amazon's configuration may say of addresses.
type (
	endpointIgnorer interface {
		GetIgnoreConfiguredEndpoints(context.Context) (ignore, found bool, err error)
	}
	endpointSource interface {
		GetServiceBaseEndpoint(ctx context.Context, service string) (endpoint string, found bool, err error)
	}
)

// configuredEndpoint returns the address that Amazon's tools would use: that in AWS_ENDPOINT_URL_S3 or of the profile,
// else in AWS_ENDPOINT_URL; "": none.
func configuredEndpoint(ctx context.Context, loaded aws.Config) string {
	for _, source := range loaded.ConfigSources {
		if s, ok := source.(endpointIgnorer); ok {
			if ignore, found, _ := s.GetIgnoreConfiguredEndpoints(ctx); found && ignore {
				return ""
			}
		}
	}
	for _, source := range loaded.ConfigSources {
		if s, ok := source.(endpointSource); ok {
			if endpoint, found, _ := s.GetServiceBaseEndpoint(ctx, "S3"); found {
				return endpoint
			}
		}
	}
	return aws.ToString(loaded.BaseEndpoint)
}
