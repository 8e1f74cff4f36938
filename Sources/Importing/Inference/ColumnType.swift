import ManagedObjects

/// The inferred type of a column.
struct InferredType: Hashable {
  var type: AttributeType
  var dateFormat: String?
  /// A note on the choice, for the person who reviews the model.
  var note: String?
}

extension ColumnTypes {
  /// The type for a column of this name.
  ///
  /// 0 and 1 stay whole numbers: only the words true and false make a Boolean. Two digits after the point in every value,
  /// a name that suggests money, and digits that a Double can't hold make a Decimal. Numbers that identify things, such
  /// as `id` and `order_no`, have 64 bits; others the fewest that hold them.
  func type(named name: String) -> InferredType {
    guard hasValues else { return InferredType(type: .string, note: "it has no values; taken as text") }
    if mayBeBoolean { return InferredType(type: .boolean) }
    if mayBeUUID { return InferredType(type: .uuid) }
    let words = EntityNames.words(of: name).map { $0.lowercased() }
    if mayBeNumber {
      if forms & (1 << UInt32(DateForm.compact)) != 0 {
        if DateForm.isNamed(name) { return InferredType(type: .date, dateFormat: "yyyyMMdd") }
        return InferredType(type: .integer32, note: "its values could be dates (yyyyMMdd); taken as whole numbers")
      }
      if words.contains(where: Self.codes.contains) { return InferredType(type: .string) }
      return number(words)
    }
    if mayBeISODate { return InferredType(type: .date) }
    if forms != 0 { return date }
    return InferredType(type: mayBeURI ? .uri : .string)
  }

  private func number(_ words: [String]) -> InferredType {
    if mayBeInteger {
      // Identifying numbers grow from file to file.
      if let last = words.last, ColumnName.suffixes.contains(last) { return InferredType(type: .integer64) }
      for type in [AttributeType.integer16, .integer32] {
        if let range = type.integerRange, range.contains(least), range.contains(greatest) {
          return InferredType(type: type)
        }
      }
      return InferredType(type: .integer64)
    }
    if significant > 38 {
      return isAllWhole
        ? InferredType(type: .string, note: "its numbers have more than 38 digits; taken as text")
        : InferredType(type: .double, note: "its numbers have more digits than any type holds; they are rounded")
    }
    if isAllWhole { return InferredType(type: .decimal) }
    let isMoney = greatestFraction <= 4 && words.contains(where: Self.money.contains)
    let isExact = significant > 17 || (leastFraction == 2 && greatestFraction == 2) || isMoney
    return InferredType(type: isExact && !hasExponent ? .decimal : .double)
  }

  private var date: InferredType {
    let found = DateForm.all.indices.filter { forms & (1 << UInt32($0)) != 0 }.map { DateForm.all[$0].format }
    if found.count == 1 { return InferredType(type: .date, dateFormat: found[0]) }
    return InferredType(
      type: .string,
      note: "its values may be dates as \(found.joined(separator: " or ")), and none tells which; taken as text")
  }

  /// Numbers only by their appearance: another file may have one that begins with a zero.
  private static let codes: Set<String> = [
    "ean", "fax", "gtin", "iban", "isbn", "mobile", "phone", "plz", "postal", "postcode", "sku", "ssn", "tel",
    "telephone",
    "zip", "zipcode",
  ]
  private static let money: Set<String> = [
    "amount", "balance", "cost", "costs", "fare", "fee", "gross", "net", "price", "salary", "tax", "total", "vat",
  ]
}
