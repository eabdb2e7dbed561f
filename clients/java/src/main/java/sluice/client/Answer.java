package sluice.client;

import java.util.List;
import java.util.Map;

/**
 * A response, as far as its limits are concerned.
 *
 * @param status of HTTP
 * @param fields header fields in their order; a name may come twice
 * @param body needed of 403, 429 and 503 only; "" if it was not read
 */
public record Answer(int status, List<Map.Entry<String, String>> fields, String body) {}
