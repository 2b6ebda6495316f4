from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_reference_dto_labels import CreateReferenceDtoLabels


T = TypeVar("T", bound="CreateReferenceDto")


@_attrs_define
class CreateReferenceDto:
    """
    Attributes:
        base_url (str): http or https, without user, query and fragment. Files go out only to what the operator allows.
            Example: https://49983-sandbox.e2b.app.
        external_id (str): What the provider calls the sandbox.
        provider (str): One of `e2b`, `daytona`, `custom`.
        credential (str | Unset): Sent to the provider with each file; stored encrypted, shown never.
        labels (CreateReferenceDtoLabels | Unset): Labels of the sandbox that is made with the reference.
    """

    base_url: str
    external_id: str
    provider: str
    credential: str | Unset = UNSET
    labels: CreateReferenceDtoLabels | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_url = self.base_url

        external_id = self.external_id

        provider = self.provider

        credential = self.credential

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "base_url": base_url,
                "external_id": external_id,
                "provider": provider,
            }
        )
        if credential is not UNSET:
            field_dict["credential"] = credential
        if labels is not UNSET:
            field_dict["labels"] = labels

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.create_reference_dto_labels import CreateReferenceDtoLabels

        d = dict(src_dict)
        base_url = d.pop("base_url")

        external_id = d.pop("external_id")

        provider = d.pop("provider")

        credential = d.pop("credential", UNSET)

        _labels = d.pop("labels", UNSET)
        labels: CreateReferenceDtoLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = CreateReferenceDtoLabels.from_dict(_labels)

        create_reference_dto = cls(
            base_url=base_url,
            external_id=external_id,
            provider=provider,
            credential=credential,
            labels=labels,
        )

        create_reference_dto.additional_properties = d
        return create_reference_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
