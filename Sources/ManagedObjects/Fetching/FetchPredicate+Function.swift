extension FetchPredicate {
  /// What expressions are computed by: the functions of Core Data's `NSExpression` that a store can answer, by the names
  /// that it gives them.
  ///
  /// In a format a name stands with its colons, `modulus:by:(a, b)`, or without them if it has one argument, `abs(a)`.
  public enum Function: String, Sendable, Hashable, CaseIterable {
    // Arithmetic: two numbers. Dates and seconds can be added and subtracted.
    /// `a + b`
    case add = "add:to:"
    /// `a - b`
    case subtract = "from:subtract:"
    /// `a * b`
    case multiply = "multiply:by:"
    /// `a / b`; of integers cut towards zero.
    case divide = "divide:by:"
    /// The rest of a division, with the sign of the first number.
    case modulus = "modulus:by:"
    /// `a ** b`, a double.
    case power = "raise:toPower:"
    /// `-a`
    case negate = "negate:"

    // Bits of integers; other numbers are cut towards zero first.
    /// Bits that both have.
    case bitwiseAnd = "bitwiseAnd:with:"
    /// Bits that one has.
    case bitwiseOr = "bitwiseOr:with:"
    /// Bits that one alone has.
    case bitwiseXor = "bitwiseXor:with:"
    /// Bits moved up.
    case leftShift = "leftshift:by:"
    /// Bits moved down, the sign kept.
    case rightShift = "rightshift:by:"
    /// All bits inverted.
    case onesComplement = "onesComplement:"

    // One number.
    /// The number without its sign.
    case absolute = "abs:"
    /// The whole number at or above.
    case ceiling = "ceiling:"
    /// The whole number at or below.
    case floor = "floor:"
    /// The whole number towards zero.
    case truncate = "trunc:"
    /// The square root, a double.
    case squareRoot = "sqrt:"
    /// The power of e, a double.
    case exponential = "exp:"
    /// The logarithm to base e, a double.
    case naturalLogarithm = "ln:"
    /// The logarithm to base 10, a double.
    case logarithm = "log:"

    // One string.
    /// The number of UTF-16 code units, as `NSString` counts.
    case length = "length:"
    /// In lower case.
    case lowercase = "lowercase:"
    /// In upper case.
    case uppercase = "uppercase:"
    /// Without the differences of case and marks that `[cd]` overlooks.
    case canonical = "canonical:"

    /// The time at which the fetch is made.
    case now = "now"

    // Aggregates: of a collection or a list.
    /// The sum; 0 of nothing.
    case sum = "sum:"
    /// How many; of values those that aren't nil.
    case count = "count:"
    /// The least.
    case minimum = "min:"
    /// The greatest.
    case maximum = "max:"
    /// The mean: a decimal of decimals, else a double.
    case average = "average:"

    /// Whether it makes one value of many.
    public var isAggregate: Bool {
      switch self {
      case .sum, .count, .minimum, .maximum, .average: return true
      default: return false
      }
    }

    /// How many arguments it takes.
    public var argumentCount: Int {
      switch self {
      case .now: return 0
      case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
        .rightShift:
        return 2
      default: return 1
      }
    }

    /// The operator that writes it, nil if none does.
    var symbol: String? {
      switch self {
      case .add: return "+"
      case .subtract: return "-"
      case .multiply: return "*"
      case .divide: return "/"
      case .power: return "**"
      default: return nil
      }
    }

    /// The function of that name, with or without the colon at its end.
    public init?(named name: String) {
      let wanted = name.lowercased()
      for function in Self.allCases {
        let known = function.rawValue.lowercased()
        if known == wanted || known == wanted + ":" {
          self = function
          return
        }
      }
      return nil
    }

    /// The function that a collection operator of a key path names: `@count`, `@sum`, `@avg`, `@min`, `@max`.
    init?(collectionOperator name: String) {
      switch name {
      case "@count": self = .count
      case "@sum": self = .sum
      case "@avg": self = .average
      case "@min": self = .minimum
      case "@max": self = .maximum
      default: return nil
      }
    }
  }
}
