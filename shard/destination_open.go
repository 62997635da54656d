package shard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/s3blob"
)

// open opens a bucket. It sends no request, except to fetch keys if CloudKeys is set.
func (d Destinations) open(ctx context.Context, at destination) (*blob.Bucket, error) {
	if at.scheme == schemeAzure {
		return d.openAzure(ctx, at)
	}
	return d.openS3(ctx, at)
}

// awsClient returns an HTTP client that connects through Transport. It uses the SDK's client
// type, which adds the certificates of AWS_CA_BUNDLE.
func (d Destinations) awsClient() *awshttp.BuildableClient {
	client := awshttp.NewBuildableClient()
	if d.Transport == nil {
		return client
	}
	return client.WithTransportOptions(func(t *http.Transport) {
		t.Proxy, t.DialContext = d.Transport.Proxy, d.Transport.DialContext
	})
}

// azureClient returns an HTTP client that connects through Transport. It follows no
// redirects, because they could lead to another server.
func (d Destinations) azureClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if d.Transport != nil {
		client.Transport = d.Transport
	}
	return client
}

// collided is the status of a request that conflicted with a concurrent one on the same
// object or folder, e.g. when two workers test the same destination. It is retried.
var collided = map[int]struct{}{http.StatusConflict: {}}

func (d Destinations) openS3(ctx context.Context, at destination) (*blob.Bucket, error) {
	settings := []func(*config.LoadOptions) error{
		config.WithHTTPClient(d.awsClient()),
		config.WithEC2IMDSClientEnableState(imds.ClientDisabled),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.RateLimiter = ratelimit.None
				o.Retryables = append(o.Retryables, retry.RetryableHTTPStatusCode{Codes: collided})
			})
		}),
	}
	if region := at.options.Get("region"); region != "" {
		settings = append(settings, config.WithRegion(region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil {
		return nil, err
	}
	if d.CloudKeys { // the metadata service is link-local, which the transport refuses
		cloud, err := config.LoadDefaultConfig(ctx, config.WithRegion(cfg.Region))
		if err != nil {
			return nil, err
		}
		cfg.Credentials = cloud.Credentials
	}
	applyChecksums(&cfg, at)
	options := s3blob.Options{EncryptionType: types.ServerSideEncryption(at.options.Get("ssetype")), KMSEncryptionID: at.options.Get("kmskeyid")}
	return s3blob.OpenBucket(ctx, s3.NewFromConfig(cfg, at.s3Options), at.bucket, &options)
}

// applyChecksums applies the checksum options, for servers that do not support checksums.
func applyChecksums(cfg *aws.Config, at destination) {
	if at.options.Get("request_checksum_calculation") == "when_required" {
		cfg.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	}
	if at.options.Get("response_checksum_validation") == "when_required" {
		cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
}

// s3Options applies the destination's options to an S3 client.
func (at destination) s3Options(o *s3.Options) {
	o.UsePathStyle = at.options.Get("use_path_style") == "true" || at.options.Get("s3ForcePathStyle") == "true"
	o.UseAccelerate = at.options.Get("accelerate") == "true"
	if at.options.Get("dualstack") == "true" {
		o.EndpointOptions.UseDualStackEndpoint = aws.DualStackEndpointStateEnabled
	}
	if at.options.Get("fips") == "true" {
		o.EndpointOptions.UseFIPSEndpoint = aws.FIPSEndpointStateEnabled
	}
	if endpoint := at.options.Get("endpoint"); endpoint != "" {
		o.BaseEndpoint = aws.String(endpoint)
	}
}

// azureRetried are the statuses that the SDK retries by default.
var azureRetried = []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

func (d Destinations) openAzure(ctx context.Context, at destination) (*blob.Bucket, error) {
	service := azureblob.NewDefaultServiceURLOptions()
	for option, into := range map[string]*string{"storage_account": &service.AccountName, "domain": &service.StorageDomain, "protocol": &service.Protocol} {
		if value := at.options.Get(option); value != "" {
			*into = value
		}
	}
	service.IsLocalEmulator = service.IsLocalEmulator || at.options.Get("localemu") == "true"
	address, err := azureblob.NewServiceURL(service)
	if err != nil {
		return nil, err
	}
	client, err := d.azureContainer(string(address), at.bucket)
	if err != nil {
		return nil, err
	}
	return azureblob.OpenBucket(ctx, client, nil)
}

// errNoAzureKeys means that the environment contains no Azure keys.
var errNoAzureKeys = errors.New("no Azure keys in the environment")

// azureContainer returns a client that uses the keys in the environment: the account key, a
// SAS token, a connection string or a registered application; otherwise, with CloudKeys, the
// machine's identity.
func (d Destinations) azureContainer(service, name string) (*container.Client, error) {
	at, err := url.JoinPath(service, name)
	if err != nil {
		return nil, err
	}
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: d.azureClient(),
		Retry:     policy.RetryOptions{StatusCodes: append(slices.Collect(maps.Keys(collided)), azureRetried...)},
	}}
	connection := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	if connection == "" {
		connection = os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING")
	}
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	switch {
	case account != "" && key != "":
		keys, err := azblob.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(at, keys, options)
	case os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "": // the token is part of the address
		return container.NewClientWithNoCredential(at, options)
	case connection != "":
		return container.NewClientFromConnectionString(connection, name, options)
	}
	identity, err := d.azureIdentity()
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, identity, options)
}

// azureIdentity returns the machine's identity with CloudKeys, otherwise the application that
// the environment names.
func (d Destinations) azureIdentity() (azcore.TokenCredential, error) {
	if d.CloudKeys {
		return azidentity.NewDefaultAzureCredential(nil)
	}
	if strings.TrimSpace(os.Getenv("AZURE_CLIENT_ID")) == "" {
		return nil, errNoAzureKeys
	}
	return azidentity.NewEnvironmentCredential(&azidentity.EnvironmentCredentialOptions{ClientOptions: azcore.ClientOptions{Transport: d.azureClient()}})
}
