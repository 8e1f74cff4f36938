import ControlAPI
import FoundationEssentials

/// Values as JSON for people and for `jq`: indented, with sorted keys.
enum JSONText {
  /// A value on one line, for streams; also with sorted keys.
  static func line(_ value: some Encodable) throws -> String {
    String(decoding: try WireFormat.encode(value, sorted: true), as: UTF8.self) + "\n"
  }

  static func of(_ value: some Encodable) throws -> String {
    String(decoding: try WireFormat.encode(value, pretty: true), as: UTF8.self) + "\n"
  }
}
