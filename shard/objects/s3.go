package objects

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// S3 is a bucket of a server that speaks S3. It is safe for concurrent use.
type S3 struct {
	*client
	region  string
	keys    *cached[awsKeys]
	sums    bool              // whether uploads carry a checksum
	created map[string]string // headers of requests that create an object
}

// OpenS3 opens a bucket. It sends no request. The error is a SettingError.
func OpenS3(p Place) (*S3, error) {
	set, err := readSettings(p)
	if err != nil {
		return nil, err
	}
	region := set.region()
	if region == "" {
		return nil, SettingError("neither the destination nor AWS_REGION names a region: check the region")
	}
	base, err := set.bucketURL(p.Bucket, region)
	if err != nil {
		return nil, err
	}
	connection, err := p.client(set.value("", "AWS_CA_BUNDLE", "ca_bundle"))
	if err != nil {
		return nil, err
	}
	source, err := set.keySource(connection, region)
	if err != nil {
		return nil, err
	}
	s := &S3{region: region, keys: &cached[awsKeys]{fetch: source}, sums: !set.withoutSums, created: set.created()}
	s.client = &client{http: connection, base: base, sign: s.signRequest, reading: map[string]string{}}
	if !set.unchecked {
		s.reading["X-Amz-Checksum-Mode"] = "ENABLED"
	}
	return s, nil
}

// created returns the headers of requests that create an object.
func (s settings) created() map[string]string {
	header := map[string]string{"Content-Type": "application/octet-stream"}
	if kind := s.options.Get("ssetype"); kind != "" {
		header["X-Amz-Server-Side-Encryption"] = kind
	}
	if key := s.options.Get("kmskeyid"); key != "" {
		header["X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"] = key
	}
	return header
}

// Put writes an object of size bytes. It is visible once it is complete.
func (s *S3) Put(ctx context.Context, name string, file io.ReaderAt, size int64) error {
	if countParts(size) <= 1 {
		r := request{method: http.MethodPut, name: name, header: s.created, body: io.NewSectionReader(file, 0, size)}
		_, _, err := s.putBytes(ctx, r)
		return err
	}
	upload, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	if err := s.putParts(ctx, name, upload, file, size); err != nil {
		return errors.Join(err, s.abort(ctx, name, upload))
	}
	return nil
}

// putBytes sends a request with the hash of its body and a checksum, which it returns too, "" if checksums are off.
func (s *S3) putBytes(ctx context.Context, r request) (a answer, sum string, err error) {
	signed, checked := sha256.New(), crc32.NewIEEE()
	if _, err := io.Copy(io.MultiWriter(signed, checked), io.NewSectionReader(r.body, 0, r.body.Size())); err != nil {
		return a, "", err
	}
	header := map[string]string{hashHeader: hex.EncodeToString(signed.Sum(nil))}
	maps.Copy(header, r.header)
	if s.sums {
		sum = base64.StdEncoding.EncodeToString(checked.Sum(nil))
		header["X-Amz-Checksum-Crc32"] = sum
	}
	r.header = header
	a, err = s.call(ctx, r)
	return a, sum, err
}

// begin begins an upload in parts and returns its id.
func (s *S3) begin(ctx context.Context, name string) (string, error) {
	header := maps.Clone(s.created)
	if s.sums {
		header["X-Amz-Checksum-Algorithm"] = "CRC32"
	}
	a, err := s.call(ctx, request{method: http.MethodPost, name: name, query: url.Values{"uploads": {""}}, header: header})
	if err != nil {
		return "", err
	}
	var begun struct{ UploadId string }
	if err = a.decode(&begun); err == nil && begun.UploadId == "" { // without an id, requests are for the object itself
		err = errors.New("the server began an upload in parts without an id")
	}
	return begun.UploadId, err
}

// uploadedPart is a part of an upload as its completion lists it.
type uploadedPart struct {
	PartNumber    int
	ETag          string
	ChecksumCRC32 string `xml:",omitempty"`
}

// putParts uploads the parts of a file and completes the upload.
func (s *S3) putParts(ctx context.Context, name, upload string, file io.ReaderAt, size int64) error {
	list := struct {
		XMLName xml.Name       `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Parts   []uploadedPart `xml:"Part"`
	}{Parts: make([]uploadedPart, countParts(size))}
	err := inParts(ctx, file, size, func(ctx context.Context, number int, part *io.SectionReader) error {
		query := url.Values{"partNumber": {strconv.Itoa(number + 1)}, "uploadId": {upload}}
		a, sum, err := s.putBytes(ctx, request{method: http.MethodPut, name: name, query: query, body: part})
		list.Parts[number] = uploadedPart{number + 1, a.header.Get("ETag"), sum}
		return err
	})
	if err != nil {
		return err
	}
	text, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	a, err := s.call(ctx, request{method: http.MethodPost, name: name, query: url.Values{"uploadId": {upload}},
		header: map[string]string{hashHeader: hex.EncodeToString(sum[:])}, body: textBody(text)})
	if err != nil {
		return err
	}
	return a.decode(&struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
	}{})
}

// abortTime bounds the removal of a failed upload's parts.
const abortTime = 10 * time.Second

// abort removes the parts of a failed upload, also after ctx has ended.
func (s *S3) abort(ctx context.Context, name, upload string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	_, err := s.call(ctx, request{method: http.MethodDelete, name: name, query: url.Values{"uploadId": {upload}}})
	if err != nil && !IsMissing(err) {
		return fmt.Errorf("the parts of the failed upload remain: %w", err)
	}
	return nil
}

// List returns the names of some objects that begin with prefix, and where to continue; "": there are no more.
func (s *S3) List(ctx context.Context, prefix, from string) (names []string, next string, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if from != "" {
		query.Set("continuation-token", from)
	}
	a, err := s.call(ctx, request{method: http.MethodGet, query: query})
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Contents              []struct{ Key string }
		NextContinuationToken string
	}
	if err := a.decode(&page); err != nil {
		return nil, "", err
	}
	for _, object := range page.Contents {
		names = append(names, object.Key)
	}
	return names, page.NextContinuationToken, nil
}
