// Package s3 keeps images, and the reference images of work that waits, in an object store that speaks
// Amazon's S3 protocol, so that several nodes share them.
//
// An image is written to a local temporary file first, which a reader that fails at its end leaves nothing
// of, and then put in one request whose length and MD5 are known. So an object is whole or is not there,
// memory is the same for an image of any size, and no unfinished multipart upload of it can be left behind.
//
// Keys begin with the configured prefix:
//
//	images/<2 hex digits>/<generation>.<attempt>.<image>
//	references/<2 hex digits>/<reference>
//
// The digits spread the keys over the ranges into which an object store divides a bucket. No key is ever
// given to different bytes, since an image's name holds 130 random bits: so a put is repeated without a condition,
// and a repetition whose first answer was lost changes nothing.
//
// [Files] keeps files of any other kind and any size, in several requests where one would be too large.
//
// What is durable once a put was answered is the object store's promise. Amazon S3, MinIO and Ceph make
// it; versitygw over a plain directory does not flush its files to the disk.
package s3
