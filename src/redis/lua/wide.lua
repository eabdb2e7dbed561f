-- Mirrors src/core/wide.h. Products of two numbers below 2^52, which Lua's 53 bits cannot hold,
-- in two limbs: high * 2^52 + low, 0 <= low < 2^52. The largest debt, kMaxUnits units over a
-- window of a century, is 3.2e30 < 2^102.
local LIMB, HALF = 4503599627370496, 67108864  -- 2^52, 2^26

local function times(a, b)
  local product = a * b
  if product < LIMB then
    return 0, product  -- Exact, as it rounds to something below 2^53.
  end
  local a1, b1 = floor(a / HALF), floor(b / HALF)
  local a0, b0 = a - a1 * HALF, b - b1 * HALF
  local middle = a1 * b0 + a0 * b1  -- Below 2^53, as each part is below 2^26.
  local carry = floor(middle / HALF)
  local high, low = a1 * b1 + carry, (middle - carry * HALF) * HALF + a0 * b0
  if low >= LIMB then
    return high + 1, low - LIMB
  end
  return high, low
end

-- floor(n / d) and the rest, d > 0 and below 2^52. What would not fit a limb is cut to 2^52.
local function divide(high, low, d)
  if high == 0 then
    local q = floor(low / d)
    local rest = low - q * d
    if rest < 0 then  -- The division rounded up to a whole number.
      return q - 1, rest + d
    end
    return q, rest
  end
  -- Two roundings of 2^-53 each: below 2^52 the quotient is off by one at most, and so the rest
  -- is above -d and below 2d, which 53 bits hold exactly.
  local q = floor((high * LIMB + low) / d)
  if q >= LIMB then
    return LIMB, 0
  end
  local taken_high, taken_low = times(q, d)
  local rest = (high - taken_high) * LIMB + (low - taken_low)
  if rest < 0 then
    return q - 1, rest + d
  elseif rest >= d then
    return q + 1, rest - d
  end
  return q, rest
end

local function divide_up(high, low, d)
  local q, rest = divide(high, low, d)
  return rest > 0 and q + 1 or q
end

local function plus(ah, al, bh, bl)
  local low = al + bl
  if low >= LIMB then
    return ah + bh + 1, low - LIMB
  end
  return ah + bh, low
end

-- a - b; the high limb is negative where b > a.
local function minus(ah, al, bh, bl)
  local low = al - bl
  if low < 0 then
    return ah - bh - 1, low + LIMB
  end
  return ah - bh, low
end

-- floor(units * part / whole), 0 <= part <= whole.
local function share(units, part, whole)
  if units == 0 then
    return 0
  end
  local high, low = times(units, part)
  return (divide(high, low, whole))
end
