import Foundation
import GRDB

/// The values of a long `IN` list as one JSON array, because a statement can have only 32,766 parameters.
///
/// Integers and strings are plain JSON. Lists with reals or BLOBs, which JSON can't represent exactly, consist of tagged strings,
/// which `lade_literal` reads: `i` and an integer, `r` and a double's bits, `t` and a text, `x` and bytes in hexadecimal.
enum ListLiteral {
  /// The array, and the SQL that turns the bound parameter into rows.
  static func array(of values: [DatabaseValue]) -> (json: String, rows: String) {
    let plain = values.compactMap(plain)
    if plain.count == values.count {
      return ("[" + plain.joined(separator: ",") + "]", "SELECT value FROM json_each(?)")
    }
    let tagged = values.map { quoted(tag($0)) }
    return ("[" + tagged.joined(separator: ",") + "]", "SELECT lade_literal(value) FROM json_each(?)")
  }

  private static func plain(_ value: DatabaseValue) -> String? {
    switch value.storage {
    case .int64(let integer): return String(integer)
    case .string(let text): return quoted(text)
    case .null, .double, .blob: return nil
    }
  }

  private static func tag(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: return "n"
    case .int64(let integer): return "i\(integer)"
    case .double(let double): return "r" + String(double.bitPattern, radix: 16)
    case .string(let text): return "t" + text
    case .blob(let data): return "x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }

  /// The value of a tagged string; nil if it is malformed.
  static func value(of tagged: String) -> DatabaseValue? {
    let rest = tagged.dropFirst()
    switch tagged.first {
    case "i": return Int64(rest)?.databaseValue
    case "r": return UInt64(rest, radix: 16).map { Double(bitPattern: $0).databaseValue }
    case "t": return String(tagged.unicodeScalars.dropFirst()).databaseValue
    case "x":
      let digits = Array(rest.utf8)
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
      }
      return Data(bytes).databaseValue
    default: return nil
    }
  }

  private static func quoted(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}
