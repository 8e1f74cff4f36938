import Foundation
import GRDB
import ManagedObjects

/// The function that makes texts of an attribute's stored values when its type changes to String, see ``AttributeWidening``.
enum TextForms {
  /// Takes a stored value and the name of its type.
  static let function = DatabaseFunction("lade_attribute_text", argumentCount: 2, pure: true) { values in
    guard let type = String.fromDatabaseValue(values[1]).flatMap(AttributeType.init(rawValue:)) else { return nil }
    return text(of: values[0], type)
  }

  static func text(of stored: DatabaseValue, _ type: AttributeType) -> String? {
    switch (type, stored.storage) {
    case (_, .null): nil
    case (.boolean, .int64(let number)): number == 0 ? "false" : "true"
    case (.decimal, _): ComputedValue.value(of: stored, "d").plainText
    case (.float, .double(let number)) where number != number.rounded(): Float(number).description
    case (.date, .int64(let seconds)): isoText(Double(seconds))
    case (.date, .double(let seconds)): isoText(seconds)
    // JSON.
    case (.transformable, .blob(let data)): String(decoding: data, as: UTF8.self)
    case (_, .string(let text)): text
    case (_, .int64), (_, .double), (_, .blob): ComputedValue.value(of: stored, "n").plainText
    }
  }

  private static func isoText(_ seconds: Double) -> String? {
    let date = Date(timeIntervalSince1970: seconds)
    // A year of more than four digits has no ISO form in a store.
    guard ISODate.text(of: date) != nil else { return Value.date(date).plainText }
    return String.fromDatabaseValue(ValueCodec.databaseValue(of: date, .iso))
  }

  static func register(on db: Database) { db.add(function: function) }
}
