package import ManagedObjects

// A converter that follows a recipe's rules goes this way, all others the one beside.
extension ValueConverter {
  /// A converter for cells of a property that a recipe says something of.
  ///
  /// - Parameters:
  ///   - attribute: the property, or the attribute that a relationship's keys are of.
  ///   - rule: what the recipe says, with its `nulls` and `trims` for all columns where the property has none of its own.
  /// - Throws: `ConverterError`.
  package init(attribute: AttributeDescription, rule: PropertyRule) throws(ConverterError) {
    let plain = try ValueConverter(
      attribute: attribute, dateFormat: rule.dateFormat ?? attribute.userInfo["dateFormat"], separator: rule.separator)
    let rules = try CellRules.of(rule, plain)
    self = rules.map(plain.following) ?? plain
  }

  @inline(never)
  func ruled(_ whole: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard let rules else { return .null }  // Never: a converter of this kind has rules.
    let text = rules.trims || base != .string ? Self.trimmed(whole) : whole
    if text.isEmpty { return base == .string && !emptyStringIsNull ? .string("") : .null }
    if base == .list { return rules.nulls?.contains(text) == true ? .null : try list(text) }
    if let value = try rules.value(of: text) { return value }
    return try written(text, rules)
  }

  /// The value of a text that is written as the rules say.
  private func written(_ text: UnsafeRawBufferPointer, _ rules: CellRules) throws(ConversionCode) -> Value {
    if let separators = rules.separators {
      return try separators.withPlain(text) { (plain) throws(ConversionCode) in try value(of: plain, base, whole: plain)
      }
    }
    if let words = rules.words {
      guard let truth = words.truth(text) else { throw .notABoolean }
      return .bool(truth)
    }
    return try value(of: text, base, whole: text)
  }

  @inline(never)
  func ruled(number: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    if let value = try rules?.value(of: number) { return value }
    return try value(ofNumber: number, base)
  }

  @inline(never)
  func ruled(bool: Bool) throws(ConversionCode) -> Value {
    let word: StaticString = bool ? "true" : "false"
    let text = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    if let value = try rules?.value(of: text) { return value }
    return try value(ofBool: bool, base)
  }

  /// The value of a text that stands in the recipe itself: written as in a column, but neither null nor another value
  /// because of what it is.
  ///
  /// - Parameters:
  ///   - option: what it is given as.
  ///   - source: of `values`, the text that it stands for.
  /// - Throws: `ConverterError.badOption` when it doesn't convert.
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
