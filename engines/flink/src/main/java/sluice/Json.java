package sluice;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Objects of JSON, as both databases hold them. */
class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  static String object(Map<String, ?> values) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(text)) {
      json.writeStartObject();
      for (Map.Entry<String, ?> entry : values.entrySet()) {
        json.writeFieldName(checked(entry.getKey()));
        write(json, entry.getValue());
      }
      json.writeEndObject();
    }
    return text.toString();
  }

  /** An object of texts. */
  static Map<String, String> texts(String json) throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    try (JsonParser parser = FACTORY.createParser(json)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) found.put(parser.currentName(), parser.nextTextValue());
    }
    return found;
  }

  /** @throws IOException where PostgreSQL could not hold it */
  static String checked(String text) throws IOException {
    if (text.indexOf('\0') >= 0) throw new IOException("a text of it has a character 0, which PostgreSQL does not hold");
    return text;
  }

  /** A number that JSON has no form for becomes a text, such as "NaN". Bytes are Base64. */
  private static void write(JsonGenerator json, Object value) throws IOException {
    if (value instanceof Double) json.writeNumber((Double) value);
    else if (value instanceof Float) json.writeNumber((Float) value);
    else if (value instanceof Number) json.writeNumber(((Number) value).longValue());
    else if (value instanceof Boolean) json.writeBoolean((Boolean) value);
    else if (value instanceof byte[]) json.writeBinary((byte[]) value);
    else json.writeString(checked(value.toString()));
  }
}
