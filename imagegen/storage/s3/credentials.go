package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
)

// credentials are those that Amazon's library finds, with errors for people.
type credentials struct {
	aws.CredentialsProvider
	noMetadata bool // the machine's metadata address is not asked
}

// Retrieve implements [aws.CredentialsProvider].
func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil {
		// The role of an EC2 machine is what the library tries when nothing is configured.
		nothing := aws.IsCredentialsProvider(c.CredentialsProvider, (*ec2rolecreds.Provider)(nil))
		err = &noCredentials{err, nothing && c.noMetadata}
	}
	return found, err
}

// noCredentials says that there are no credentials, so that no request was sent.
type noCredentials struct {
	cause   error
	nothing bool // nothing is configured, and the cause says only that
}

func (e *noCredentials) Error() string {
	const remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; AWS_EC2_METADATA_DISABLED=false takes the role of an EC2 machine"
	if e.nothing {
		return "there are no credentials: " + remedy
	}
	cause := e.cause
	for inner := errors.Unwrap(cause); inner != nil; inner = errors.Unwrap(cause) {
		cause = inner
	}
	return fmt.Sprintf("the credentials cannot be had: %v; %s", cause, remedy)
}

func (e *noCredentials) Unwrap() error { return e.cause }
