/** A filter for servlet containers. */
package sluice.client.servlet;
