/** Plain form fields with a label: the browser's own, which every assistive technology knows. */
import { useId } from 'react';
import { words } from '@/words';

type Option = string | { value: string; label: string };

interface SelectProps {
  data: readonly Option[];
  value: string | null;
  onChange(value: string | null): void;
  label?: string;
  placeholder?: string;
  'aria-label'?: string;
  'data-autofocus'?: boolean;
}

export function Select({ data, value, onChange, label, placeholder, ...rest }: SelectProps) {
  const id = useId();
  return (
    <div className="labelled">
      {label && <label htmlFor={id}>{label}</label>}
      <select
        id={id}
        className="field"
        value={value ?? ''}
        onChange={(event) => onChange(event.target.value || null)}
        aria-label={rest['aria-label']}
        data-autofocus={rest['data-autofocus'] ? '' : undefined}
      >
        {value === null && <option value="">{placeholder ?? words.choose}</option>}
        {data.map((option) => {
          const { value: key, label: text } = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={key} value={key}>
              {text}
            </option>
          );
        })}
      </select>
    </div>
  );
}

interface TextProps {
  value: string;
  onChange(value: string): void;
  label?: string;
  description?: string;
  placeholder?: string;
  'aria-label'?: string;
  'data-autofocus'?: boolean;
}

export function TextField({ value, onChange, label, description, placeholder, ...rest }: TextProps) {
  const id = useId();
  return (
    <div className="labelled">
      {label && <label htmlFor={id}>{label}</label>}
      {description && (
        <span id={`${id}-more`} className="muted small">
          {description}
        </span>
      )}
      <input
        id={id}
        className="field"
        value={value}
        placeholder={placeholder}
        aria-label={rest['aria-label']}
        aria-describedby={description ? `${id}-more` : undefined}
        data-autofocus={rest['data-autofocus'] ? '' : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

interface SwitchProps {
  label: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  description?: string;
}

export function Switch({ label, checked, onChange, disabled = false, description }: SwitchProps) {
  return (
    <label className="switch">
      <input
        type="checkbox"
        role="switch"
        aria-checked={checked}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="switch__track" aria-hidden="true" />
      <span>
        {label}
        {description && <span className="muted small switch__more">{description}</span>}
      </span>
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange(value: string): void;
  options: readonly { value: string; label: string }[];
  disabled?: boolean;
  describedBy?: string | undefined;
  /** Side by side, as one control. */
  segments?: boolean;
}

/** One of a few: radio buttons below each other, or segments of one control. */
export function Choice({
  label,
  value,
  onChange,
  options,
  disabled = false,
  describedBy,
  segments = false,
}: ChoiceProps) {
  const name = useId();
  return (
    <fieldset className={segments ? 'segments' : 'radios'} aria-describedby={describedBy}>
      <legend className={segments ? 'visually-hidden' : undefined}>{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={disabled}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
