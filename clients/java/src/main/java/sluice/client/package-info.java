/**
 * Asks a Sluice daemon whether a request may pass ({@link sluice.client.SluiceClient}), and keeps your own calls within the limits of
 * other servers ({@link sluice.client.ThrottledHttpClient}).
 */
package sluice.client;
