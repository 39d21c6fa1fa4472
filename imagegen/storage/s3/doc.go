// Package s3 keeps images, and the reference images of work that waits, in an object store with
// Amazon's S3 protocol, so that several nodes share them.
//
// An image is first written to a local temporary file and then put in one request whose length and MD5 are known. If
// the reader of an image fails, even at its end, nothing is put. So an object is complete or does not exist, an
// image of any size takes the same memory, and no unfinished multipart upload of an image can be left behind.
//
// Keys begin with the configured prefix:
//
//	images/<2 hex digits>/<generation>.<attempt>.<image>
//	references/<2 hex digits>/<reference>
//
// The digits spread the keys over the ranges into which an object store divides a bucket. No key is ever used for
// different bytes, since an image's name contains 130 random bits. So a put needs no condition, and repeating a put
// whose answer was lost changes nothing.
//
// [Store] is both an image store and a spool; it needs a local directory of its own in each process. [Files] keeps
// files of any other kind and any size, large ones in several requests, and needs no directory.
//
// This package relies on the object store to make an object durable before it answers a put. Amazon S3, MinIO and Ceph
// do so; versitygw over a plain directory does not flush its files to the disk.
package s3
