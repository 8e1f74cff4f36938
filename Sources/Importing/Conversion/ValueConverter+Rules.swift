import Foundation
package import ManagedObjects

// Conversion by a recipe's rules. Kept apart, so that converters without rules don't pay for them.
extension ValueConverter {
  /// A converter for the cells of a property that a recipe has rules for.
  ///
  /// - Parameters:
  ///   - attribute: the property, or the attribute of a relationship's keys.
  ///   - rule: the rule, with the recipe's `nulls` and `trims` for all columns if it has none of its own.
  ///   - emptyStringIsNull: as in ``init(attribute:dateFormat:emptyStringIsNull:)``.
  /// - Throws: `ConverterError`.
  package convenience init(
    attribute: AttributeDescription, rule: PropertyRule, emptyStringIsNull: Bool = false
  ) throws(ConverterError) {
    let plain = try ValueConverter(
      attribute: attribute, dateFormat: rule.dateFormat ?? attribute.userInfo["dateFormat"],
      emptyStringIsNull: emptyStringIsNull, separator: rule.separator,
      bytes: rule.binaryEncoding)
    let rules = try CellRules.of(rule, plain)
    self.init(plain, following: rules)
  }

  /// The same converter with these rules, if there are any.
  convenience init(_ plain: ValueConverter, following rules: CellRules?) {
    self.init(
      attribute: plain.attribute, kind: rules == nil ? plain.kind : .ruled, base: plain.base,
      emptyStringIsNull: plain.emptyStringIsNull, pattern: plain.pattern, dateFormat: plain.dateFormat, rules: rules)
  }

  @inline(never)
  func ruled(_ whole: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard let rules else { return .null }  // Never: a converter of this kind has rules.
    let text = rules.trims || base != .string ? Self.trimmed(whole) : whole
    if text.isEmpty {
      // The record has an empty text, not one that trimming emptied.
      guard base == .string, whole.isEmpty, !emptyStringIsNull else { return .null }
      return try rules.value(of: text) ?? .string("")
    }
    if base == .list { return rules.nulls?.contains(text) == true ? .null : try list(text) }
    if let value = try rules.value(of: text) { return value }
    return try written(text, rules)
  }

  /// The value of a text in the notation of the rules.
  private func written(_ text: UnsafeRawBufferPointer, _ rules: CellRules) throws(ConversionCode) -> Value {
    if let marks = rules.marks {
      return try marks.withNumber(text) { (number) throws(ConversionCode) in try separated(number, rules) }
    }
    if rules.separators != nil { return try separated(text, rules) }
    if let words = rules.words {
      guard let truth = words.truth(text) else { throw .notABoolean }
      return .bool(truth)
    }
    return try value(of: text, base, whole: text)
  }

  /// The value of a number with the separators of the rules.
  private func separated(_ text: UnsafeRawBufferPointer, _ rules: CellRules) throws(ConversionCode) -> Value {
    guard let separators = rules.separators else { return try value(of: text, base, whole: text) }
    return try separators.withPlain(text) { (plain) throws(ConversionCode) in try value(of: plain, base, whole: plain) }
  }

  @inline(never)
  func ruled(number: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    if let value = try rules?.value(of: number) { return value }
    if rules?.marks?.requiresUnit == true { throw .notANumber }
    return try value(ofNumber: number, base)
  }

  @inline(never)
  func ruled(bool: Bool) throws(ConversionCode) -> Value {
    let word: StaticString = bool ? "true" : "false"
    let text = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    if let value = try rules?.value(of: text) { return value }
    return try value(ofBool: bool, base)
  }

  /// The value of a text in the recipe itself: in the notation of a column, but not subject to its `nulls` and `values`.
  ///
  /// - Parameters:
  ///   - option: the option that gives it.
  ///   - source: the text of the source that it replaces, if the option is `values`.
  /// - Throws: `ConverterError.badOption` if it can't be converted.
  func given(_ text: String, as option: String, for source: String? = nil) throws(ConverterError) -> Value {
    var copy = text
    let result = copy.withUTF8 { bytes -> Result<Value, ConversionCode> in
      let bytes = UnsafeRawBufferPointer(bytes)
      do throws(ConversionCode) {
        let text = base == .string ? bytes : Self.trimmed(bytes)
        if text.isEmpty { return .success(.null) }
        guard let rules else { return .success(try value(of: text, base, whole: text)) }
        return .success(try written(text, rules))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let code):
      let problem = copy.withUTF8 { self.problem(code, text: UnsafeRawBufferPointer($0)) }
      throw .badOption(
        attribute: attribute.name, option: option, value: text,
        reason: problem.reason + (source.map { " (for “\($0)”)" } ?? ""))
    }
  }
}

// Arrays of strings in transformable attributes: a text with separators, or a JSON array.
extension ValueConverter {
  /// The strings of a text, without empty ones and nulls.
  func list(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard let separator = rules?.separator else { throw .wrongKind }
    return try list(String(decoding: text, as: UTF8.self).split(separator: separator).map(String.init))
  }

  /// The value of a JSON array, for an attribute that holds an array of strings.
  func convert(nested json: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard base == .list else { throw .wrongKind }
    let strings: [String]
    do {
      strings = try JSONDecoder().decode([String].self, from: Data(json))
    } catch {
      throw .wrongKind
    }
    return try list(strings)
  }

  private func list(_ strings: [String]) throws(ConversionCode) -> Value {
    var kept: [String] = []
    for var string in strings {
      let value = try meaning(&string)
      if case .string(let text) = value { kept.append(text) }
    }
    do {
      return .data(try attribute.data(of: kept))
    } catch {
      throw .wrongKind
    }
  }

  /// The meaning of one string.
  private func meaning(_ string: inout String) throws(ConversionCode) -> Value {
    let result = string.withUTF8 { bytes -> Result<Value, ConversionCode> in
      let bytes = UnsafeRawBufferPointer(bytes)
      let text = rules?.trims == true ? Self.trimmed(bytes) : bytes
      if text.isEmpty { return .success(.null) }
      do throws(ConversionCode) {
        return .success(try rules?.value(of: text) ?? .string(String(decoding: text, as: UTF8.self)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
